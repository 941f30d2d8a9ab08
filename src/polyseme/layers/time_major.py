"""The order in which a recurrence reads packed sequences: all first rows, all second ones, …, longest first."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class TimeMajor:
    """Sequences leave as they end: step t reads the first `sizes[t]` of them."""

    rows: Tensor  # (rows,) where the rows of one step after another stand
    sizes: list[int]  # how many sequences reach each step: never rising
    sequences: Tensor  # (sequences,) longest first

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
        first = offsets[1:] - 1 if reverse else offsets[:-1]
        return cls(first[sequences][ranks] + (-steps if reverse else steps), sizes.tolist(), sequences)


def sequences_of(offsets: Tensor) -> Tensor:
    """(rows,) the sequence that each row belongs to.

    >>> sequences_of(torch.tensor([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return torch.arange(len(offsets) - 1, device=offsets.device).repeat_interleave(offsets.diff())


def mirrored(offsets: Tensor) -> Tensor:
    """(rows,) the row that takes each row's place when every sequence is read from its end; its own inverse.

    >>> mirrored(torch.tensor([0, 3, 3, 5])).tolist()
    [2, 1, 0, 4, 3]
    """
    ends = (offsets[:-1] + offsets[1:] - 1).repeat_interleave(offsets.diff())
    return ends - torch.arange(len(ends), device=offsets.device)
