"""Optimisers with the papers' settings, and their state as named tensors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from polyseme.errors import BadFile, Mistake
from polyseme.train.muon import Muon, between
from polyseme.train.nt_asgd import NtAsgd

Name = Literal["adagrad", "adamw", "muon", "nt_asgd"]


def make(
    name: Name,
    module: nn.Module,
    rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    weight_decay: float = 0.0,
    initial_accumulator: float = 1.0,
    factors: Sequence[tuple[nn.Module, float]] = (),
    patience: int = 5,
) -> torch.optim.Optimizer:
    """An optimiser over a module's parameters; weight decay spares biases and layer norms.

    `factors` names parts of the module that learn at a rate of their own, and its ratio to the rate of all others.
    """
    groups = rate_groups(module, weight_decay, factors)
    if name == "muon":
        return Muon(_apart(groups, between(module)), lr=rate, betas=betas, fused=True)
    if name == "adagrad":
        return torch.optim.Adagrad(groups, lr=rate, initial_accumulator_value=initial_accumulator, fused=True)
    if name == "nt_asgd":
        return NtAsgd(groups, rate, patience)
    return torch.optim.AdamW(groups, lr=rate, betas=betas, fused=True)


def _apart(groups: list[dict[str, Any]], between: set[Tensor]) -> list[dict[str, Any]]:
    """The matrices between layers in groups of their own."""
    if not between:
        raise Mistake("optimizer='muon' is for linear layers, and this model has none between its layers. Use 'adamw'.")
    parts = [(group, chosen) for group in groups for chosen in (True, False)]
    found = [
        {**group, "params": [p for p in group["params"] if (p in between) == chosen], "between": chosen}
        for group, chosen in parts
    ]
    return [group for group in found if group["params"]]


def rate_groups(
    module: nn.Module, weight_decay: float, factors: Sequence[tuple[nn.Module, float]]
) -> list[dict[str, Any]]:
    """Parameters of the same factor together, within them those of the same decay."""
    own = {parameter for part, _ in factors for parameter in part.parameters()}
    parts = [([p for p in module.parameters() if p not in own], 1.0)]
    parts += [(list(part.parameters()), factor) for part, factor in factors]
    return [
        {**group, "factor": factor} for parameters, factor in parts for group in _by_decay(parameters, weight_decay)
    ]


def decay_groups(module: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Matrices decay, vectors (biases, layer norms) do not."""
    return _by_decay(module.parameters(), weight_decay)


def _by_decay(all_parameters: Iterable[nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    parameters = [parameter for parameter in all_parameters if parameter.requires_grad]
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    vectors = [parameter for parameter in parameters if parameter.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


def clip(parameters: Iterable[Tensor], most: float) -> float:
    """Scale all gradients so that their common norm is at most this; the norm before."""
    return float(torch.nn.utils.clip_grad_norm_(parameters, most))


def state_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What the optimiser remembers, as tensors with names: of a parameter by its number, or of the whole."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": torch.as_tensor(value) for number, slots in state.items() for name, value in slots.items()
    }


def load_state_tensors(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `state_tensors` gave."""
    whole = optimizer.state_dict()
    numbers = {number for group in whole["param_groups"] for number in group["params"]}
    state: dict[int | str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        owner, slot = name.split(".", 1)
        state.setdefault(int(owner) if owner.isdigit() else owner, {})[slot] = tensor
    named = {owner for owner in state if isinstance(owner, int)}
    if not named <= numbers:
        raise BadFile(f"The optimiser's state names {len(named)} parameters; the model has {len(numbers)}.")
    optimizer.load_state_dict({"state": state, "param_groups": whole["param_groups"]})
