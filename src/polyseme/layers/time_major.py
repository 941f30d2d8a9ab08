"""The order in which a recurrence reads packed sequences: all first rows, all second ones, …, longest first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class TimeMajor:
    """Sequences leave as they end: step t reads the first `sizes[t]` of them."""

    rows: Tensor  # (rows,) where the rows of one step after another stand
    sizes: list[int]  # how many sequences reach each step: never rising
    sequences: Tensor  # (sequences,) longest first
    owners: Tensor  # (rows,) the sequence that each of those rows belongs to

    @classmethod
    def of(cls, offsets: Tensor, reverse: bool = False) -> TimeMajor:
        """With `reverse` each sequence is read from its own end.

        >>> order = TimeMajor.of(torch.tensor([0, 1, 4, 6]))
        >>> order.rows.tolist(), order.sizes
        ([1, 4, 0, 2, 5, 3], [3, 2, 1])
        """
        lengths = offsets.diff()
        sequences = lengths.argsort(descending=True, stable=True)
        sizes = len(lengths) - torch.bincount(lengths).cumsum(0)[:-1]  # sequences longer than 0, 1, …
        steps = torch.arange(len(sizes), device=offsets.device).repeat_interleave(sizes)
        begins = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
        ranks = torch.arange(len(steps), device=offsets.device) - begins
        first, owners = offsets[1:] - 1 if reverse else offsets[:-1], sequences[ranks]
        return cls(first[owners] + (-steps if reverse else steps), sizes.tolist(), sequences, owners)

    @cached_property
    def places(self) -> Tensor:
        """(rows,) when each row is read."""
        return self.rows.argsort()

    @cached_property
    def ranks(self) -> Tensor:
        """(sequences,) the place of each, the longest first."""
        return self.sequences.argsort()


def sequences_of(offsets: Tensor) -> Tensor:
    """(rows,) the sequence that each row belongs to.

    >>> sequences_of(torch.tensor([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return torch.arange(len(offsets) - 1, device=offsets.device).repeat_interleave(offsets.diff())
