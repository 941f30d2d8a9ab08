"""The training loop, as a generator: logging, saving and stopping are an ordinary for loop in the caller."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from polyseme.errors import Mistake
from polyseme.layers.memory import keep_memory
from polyseme.text.order import seed_for
from polyseme.train.optim import clip
from polyseme.types import State

# A loss may come in parts whose sum it is: each is computed, and what it remembers freed, before the next one.
Loss: TypeAlias = "Tensor | Iterable[Tensor]"
LossOf: TypeAlias = "Callable[[int, State | None], tuple[Loss, State | None]]"


@dataclass(frozen=True)
class Progress:
    """What one step did."""

    step: int  # steps taken so far: 1 after the first
    loss: float
    norm: float  # of the gradient, before it was clipped
    rate: float
    state: State | None  # to hand to the next step


def train(
    loss_of: LossOf,
    optimizer: torch.optim.Optimizer,
    rate_of: Callable[[int], float],
    steps: range,
    seed: int,
    most_norm: float = float("inf"),
    state: State | None = None,
) -> Iterator[Progress]:
    """Take these steps, one at a time. All randomness of a step comes from (seed, step), so any step can be the first.

    Each group of the optimiser may have a "factor" for its rate; 0 leaves it as it is.
    """
    keep_memory()
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for step in steps:
        _begin_chance(seed_for(seed, step))
        loss, state = loss_of(step, state)
        amount = _backward([loss] if isinstance(loss, Tensor) else loss)
        norm = clip(parameters, most_norm)
        if not math.isfinite(norm):
            found = "not a number" if math.isnan(norm) else "infinite"
            raise Mistake(f"The gradient of step {step + 1} is {found}. Lower the learning rate ({rate_of(step):g}).")
        for group in optimizer.param_groups:
            group["lr"] = rate_of(step) * group.get("factor", 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield Progress(step + 1, amount, norm, rate_of(step), state)


def _begin_chance(seed: int) -> None:
    """torch.manual_seed for the CPU and CUDA alone: its calls to other devices each write down the whole stack, and a
    step of a head takes half as long without them."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(seed)


def _backward(parts: Iterable[Tensor]) -> float:
    """Add up the gradients of all parts; their sum."""
    amount = 0.0
    for part in parts:
        part.backward()  # type: ignore[no-untyped-call]
        amount += part.item()
    return amount
