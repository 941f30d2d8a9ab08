"""Rows with mean 0 and spread 1 in every column."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class Standard(nn.Module):
    """What is taken off each column and what it is divided by: found once, the same while learning and afterwards.

    Not batch norm: a batch holds texts of like length, and where classes differ in length its own mean would take away
    what tells them apart.
    """

    mean: Tensor
    spread: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))

    def forward(self, rows: Tensor) -> Tensor:
        return (rows - self.mean) / self.spread

    def measure(self, parts: Iterable[Tensor]) -> None:
        """Take mean and spread from these rows, which come in parts; a column that is always the same stays so."""
        n, total, squares = (
            0,
            self.mean.new_zeros(len(self.mean)).double(),
            self.mean.new_zeros(len(self.mean)).double(),
        )
        for rows in parts:
            n += len(rows)
            total += rows.double().sum(0)
            squares += rows.double().square().sum(0)
        if n:
            mean = total / n
            spread = (squares / n - mean.square()).clamp(min=0).sqrt()
            is_same = spread <= 1e-6 * mean.abs()
            self.mean.copy_(mean)
            self.spread.copy_(spread.masked_fill(is_same, 1.0))
