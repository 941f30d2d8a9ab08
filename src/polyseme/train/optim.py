"""Optimisers with the papers' settings, and their state as named tensors."""

from collections.abc import Iterable, Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from polyseme.errors import BadFile

Name = Literal["adagrad", "adamw"]


def make(
    name: Name,
    module: nn.Module,
    rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    weight_decay: float = 0.0,
    initial_accumulator: float = 1.0,
) -> torch.optim.Optimizer:
    """An optimiser over a module's parameters; weight decay spares biases and layer norms."""
    groups = decay_groups(module, weight_decay)
    if name == "adagrad":
        return torch.optim.Adagrad(groups, lr=rate, initial_accumulator_value=initial_accumulator, fused=True)
    return torch.optim.AdamW(groups, lr=rate, betas=betas, fused=True)


def decay_groups(module: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Matrices decay, vectors (biases, layer norms) do not."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    vectors = [parameter for parameter in parameters if parameter.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


def clip(parameters: Iterable[Tensor], most: float) -> float:
    """Scale all gradients so that their common norm is at most this; the norm before."""
    return float(torch.nn.utils.clip_grad_norm_(parameters, most))


def state_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What the optimiser remembers, as tensors with names."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": torch.as_tensor(value) for number, slots in state.items() for name, value in slots.items()
    }


def load_state_tensors(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `state_tensors` gave."""
    whole = optimizer.state_dict()
    numbers = {number for group in whole["param_groups"] for number in group["params"]}
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, slot = name.split(".", 1)
        state.setdefault(int(number), {})[slot] = tensor
    if not set(state) <= numbers:
        raise BadFile(f"The optimiser's state names {len(state)} parameters; the model has {len(numbers)}.")
    optimizer.load_state_dict({"state": state, "param_groups": whole["param_groups"]})
