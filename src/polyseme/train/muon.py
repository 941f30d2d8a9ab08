"""Muon (Jordan et al. 2024): momentum made orthogonal for the matrices between layers, AdamW for all the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

_MOMENTUM = 0.95
SPREAD = (
    0.7  # of the entries of an update a rate: some three times AdamW's, which was better than as much (docs/log.md)
)
_QUINTIC = (
    3.4445,
    -4.7750,
    2.0315,
)  # of Newton and Schulz's iteration, which five times brings any singular value near 1
_ITERATIONS = 5
_LEAST = 32  # a matrix with a shorter side makes scores or reads characters: not what lies between two layers


class Muon(torch.optim.AdamW):
    """Groups with "between": True hold matrices between layers; those of all others learn as AdamW has it.

    A matrix is taken in squares (queries, keys and values apart, a feed-forward layer in four), so that one product
    does for many of them.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        assert closure is None
        for group in self.param_groups:
            if group.get("between"):
                self._turn([parameter for parameter in group["params"] if parameter.grad is not None], group)
        super().step()

    def _turn(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        """Take a step, and leave AdamW no gradient to take another with."""
        updates = orthogonal([self._momentum(parameter) for parameter in parameters])
        for parameter, update in zip(parameters, updates, strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"])
            parameter.grad = None

    def _momentum(self, parameter: Tensor) -> Tensor:
        """Nesterov's: where the momentum will be after this gradient has come once more."""
        gradient, slots = parameter.grad, self.state[parameter]
        assert gradient is not None
        if "momentum" not in slots:
            slots["momentum"], slots["step"] = torch.zeros_like(parameter), torch.zeros(())  # AdamW asks for steps
        slots["momentum"].lerp_(gradient, 1 - _MOMENTUM)
        return gradient.lerp(slots["momentum"], _MOMENTUM)


def between(module: nn.Module) -> set[Tensor]:
    """The matrices between layers: weights of linear layers, but for those that give a few scores."""
    linear = [part.weight for part in module.modules() if isinstance(part, nn.Linear)]
    return {weight for weight in linear if min(weight.shape) >= _LEAST and _squares_in(weight)}


def orthogonal(matrices: Iterable[Tensor]) -> list[Tensor]:
    """Each one's squares with all singular values brought near one, scaled to the same spread of entries."""
    matrices = list(matrices)
    by_side: dict[int, list[Tensor]] = {}
    for matrix in matrices:
        by_side.setdefault(min(matrix.shape), []).append(_squares(matrix))
    turned = {side: _turned(torch.cat(squares)).mul_(SPREAD * side**0.5) for side, squares in by_side.items()}
    parts = {side: iter(torch.split(all_, [len(one) for one in by_side[side]])) for side, all_ in turned.items()}
    return [_joined(next(parts[min(matrix.shape)]), matrix.shape) for matrix in matrices]


def _turned(squares: Tensor) -> Tensor:
    """(squares, side, side): Newton and Schulz's iteration towards the nearest orthogonal matrices."""
    a, b, c = _QUINTIC
    squares = squares / squares.flatten(1).norm(dim=1).clamp(min=1e-7)[:, None, None]
    for _ in range(_ITERATIONS):
        product = squares @ squares.mT
        squares = torch.baddbmm(squares, torch.baddbmm(product, product, product, beta=b, alpha=c), squares, beta=a)
    return squares


def _squares_in(matrix: Tensor) -> bool:
    return max(matrix.shape) % min(matrix.shape) == 0


def _squares(matrix: Tensor) -> Tensor:
    """(squares, side, side), from the top down or from left to right."""
    side = min(matrix.shape)
    if matrix.shape[0] >= matrix.shape[1]:
        return matrix.view(-1, side, side)
    return matrix.view(side, -1, side).transpose(0, 1)


def _joined(squares: Tensor, shape: torch.Size) -> Tensor:
    """The inverse of `_squares`."""
    return (squares if shape[0] >= shape[1] else squares.transpose(0, 1)).reshape(shape)
