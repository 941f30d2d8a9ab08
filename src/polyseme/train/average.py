"""Means of weights over many steps. They stand in the optimiser's memory, and so in every checkpoint."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


@torch.no_grad()
def add_to_means(optimizer: torch.optim.Optimizer) -> None:
    """Add today's weights to the mean of each parameter that has learned so far."""
    for parameter, own in optimizer.state.items():
        add_to_mean(own, parameter)


def add_to_mean(own: dict[str, Tensor], parameter: Tensor, n_left_out: int = 0) -> None:
    """Add one parameter to its mean, which is in what the optimiser remembers of it; the first few may be left out."""
    if "mean" not in own:
        own["n"], own["mean"] = torch.zeros(()), torch.zeros_like(parameter)
    own["n"] += 1
    own["mean"].lerp_(parameter.detach(), 1 / max(1, int(own["n"]) - n_left_out))


@contextmanager
def averaged(optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """Inside the block the parameters are their means, where there are any; behind it they are what they were."""
    kept = {parameter: parameter.detach().clone() for parameter in _means(optimizer)}
    put_means(optimizer)
    try:
        yield
    finally:
        _put(kept)


def put_means(optimizer: torch.optim.Optimizer) -> None:
    """The parameters become their means, where there are any."""
    _put(_means(optimizer))


def _means(optimizer: torch.optim.Optimizer) -> dict[Tensor, Tensor]:
    return {parameter: own["mean"] for parameter, own in optimizer.state.items() if "mean" in own}


@torch.no_grad()
def _put(values: dict[Tensor, Tensor]) -> None:
    for parameter, value in values.items():
        parameter.copy_(value)
