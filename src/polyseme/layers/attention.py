"""Self-attention over packed sequences: those of equal length share one call, without padding or mask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.layers.dense import times
from polyseme.layers.products import Precision
from polyseme.layers.rounded import is_rounded, linear

_WORTHWHILE = 4  # keys beyond whole vectors from which on filling the last vector is faster


class Run(NamedTuple):
    """Neighbours of equal length."""

    n: int  # sequences
    length: int  # of each
    n_keys: int  # that each row sees; those beyond its sequence are masked


@dataclass(frozen=True)
class Runs:
    """How packed sequences are worked through: neighbours of equal length together.

    Where sequences of one length do not stand together, rows are put into an order in which they do. Rows of zeros may
    come behind them, each a sequence of its own, where products want a round number of rows.
    """

    each: list[Run]
    ends: Tensor  # where each sequence's first row and its last one stand, in order
    order: Tensor | None = None  # (positions,) where each row in order comes from; None where it stays
    places: Tensor | None = None  # (positions,) where each row goes to: the inverse
    n_more: int = 0  # rows of zeros

    @classmethod
    def of(cls, offsets: Tensor, padding: Callable[[int], int] = lambda n_rows: 0, lanes: int = 1) -> Runs:
        """The runs of a Batch's offsets, and rows of zeros: as many as `padding` adds to so many rows.

        torch computes weights of keys in vectors of so many `lanes`, and those beyond whole vectors one by one, which
        takes longer than a vector. Where there are many of them, rows of the next sequence fill the last vector, and
        behind the last sequence rows of zeros.

        >>> Runs.of(torch.tensor([0, 2, 4, 7])).each
        [Run(n=2, length=2, n_keys=2), Run(n=1, length=3, n_keys=3)]
        """
        lengths = offsets.diff()
        shapes = _shapes(lengths)
        by_length, sequences = lengths.sort(stable=True)
        sorted_shapes = _shapes(by_length)
        if len(sorted_shapes) == len(shapes):
            each, n_more = _filled(shapes, padding, lanes)
            return cls(each, _ends(lengths), n_more=n_more)
        starts = by_length.cumsum(0) - by_length
        order = torch.arange(int(offsets[-1]), device=offsets.device)
        order = order + (offsets[sequences] - starts).repeat_interleave(by_length)
        each, n_more = _filled(sorted_shapes, padding, lanes)
        return cls(each, _ends(by_length), order, order.argsort(), n_more)

    def arranged(self, rows: Tensor) -> Tensor:
        rows = rows if self.order is None else rows.index_select(0, self.order)
        return F.pad(rows, (0, 0, 0, self.n_more)) if self.n_more else rows

    def places_of(self, positions: Tensor) -> Tensor:
        """Where these positions' rows are once all are arranged."""
        return positions if self.places is None else self.places[positions]

    def restored(self, rows: Tensor) -> Tensor:
        """The inverse of `arranged`."""
        if self.places is not None:
            return rows.index_select(0, self.places)
        return rows[: len(rows) - self.n_more] if self.n_more else rows


class SelfAttention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017), each row seeing the rows of its own sequence."""

    def __init__(self, width: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if width % n_heads:
            raise Mistake(f"A width of {width} cannot be shared among {n_heads} heads; choose numbers that divide.")
        self.width, self.n_heads, self.dropout = width, n_heads, dropout
        self.qkv = nn.Linear(width, 3 * width)  # queries, keys and values in one product
        self.out = nn.Linear(width, width)

    def forward(self, rows: Tensor, runs: Runs, precision: Precision = "float32", only: Tensor | None = None) -> Tensor:
        """(positions, width), or `only` at some of the positions."""
        if not runs.each:
            return rows
        heads = linear(self.qkv, rows, precision)  # (positions, 3 * width)
        if is_rounded(self.qkv, rows, precision):
            self._mend(heads, rows, runs.ends)
        parts = torch.split(heads, [run.n * run.length for run in runs.each])
        found = [self._attend(part, run) for part, run in zip(parts, runs.each, strict=True)]
        mixed = found[0] if len(found) == 1 else torch.cat(found)
        return linear(self.out, mixed if only is None else mixed.index_select(0, only), precision, spent=True)

    def _mend(self, heads: Tensor, rows: Tensor, ends: Tensor) -> None:
        """Values of first and last rows without rounding. These are [CLS] and [SEP], which all others look at where
        they look for nothing (Clark et al. 2019): what is lost of them is lost to every row."""
        weight, bias = self.qkv.weight[2 * self.width :], self.qkv.bias[2 * self.width :]
        heads[:, 2 * self.width :].index_copy_(0, ends, times(rows.index_select(0, ends), weight, bias))

    def _attend(self, part: Tensor, run: Run) -> Tensor:
        dropout, mask = self.dropout if self.training else 0.0, None
        if run.length == 1 and not dropout:
            return part[:, 2 * self.width :]  # who is alone attends to itself: its value
        heads = part.view(run.n, run.length, 3, self.n_heads, -1)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind()  # each (n, heads, length, width of a head)
        if run.n_keys > run.length:
            key, value = _longer(key, run.n_keys), _longer(value, run.n_keys)
            mask = _mask(run.length, run.n_keys, key.dtype)
        mixed = F.scaled_dot_product_attention(query, key, value, mask, dropout)
        return mixed.transpose(1, 2).reshape(run.n * run.length, self.width)


def n_lanes() -> int:
    """How many numbers this processor computes at once."""
    return {"AVX2": 8, "AVX512": 16}.get(torch.backends.cpu.get_cpu_capability(), 1)


def _longer(rows: Tensor, n_keys: int) -> Tensor:
    """(n, heads, n_keys, width): each sequence with the rows that come behind it in memory; nothing is copied."""
    n, n_heads, _, width = rows.shape
    return rows.as_strided((n, n_heads, n_keys, width), rows.stride())


@cache
def _mask(length: int, n_keys: int, dtype: torch.dtype) -> Tensor:
    """(1, 1, 1, n_keys), to be added to what a row makes of its keys."""
    with torch.inference_mode(False):
        mask = torch.zeros(1, 1, 1, n_keys, dtype=dtype)
        mask[..., length:] = -torch.inf
    return mask


def _filled(shapes: list[tuple[int, int]], padding: Callable[[int], int], lanes: int) -> tuple[list[Run], int]:
    """The runs with the keys that each row sees, and how many rows of zeros that and the padding take."""
    found = [Run(n, length, length + _missing(length, lanes)) for n, length in shapes]
    n_rows = n_missing = 0
    for run in reversed(found):  # of what it lacks, what stands behind it is there already
        n_missing = max(n_missing, run.n_keys - run.length - n_rows)
        n_rows += run.n * run.length
    n_more = n_missing + padding(n_rows + n_missing)
    return [*found, Run(n_more, 1, 1)] if n_more else found, n_more


def _missing(length: int, lanes: int) -> int:
    """Keys that fill the last vector, where that is worthwhile."""
    return -length % lanes if length % lanes >= _WORTHWHILE else 0


def _ends(lengths: Tensor) -> Tensor:
    """The first and the last row of each sequence that has any."""
    behind = lengths.cumsum(0)
    return torch.cat([behind - lengths, behind - 1])[lengths.repeat(2) > 0]


def _shapes(lengths: Tensor) -> list[tuple[int, int]]:
    of_run, n = torch.unique_consecutive(lengths, return_counts=True)
    return [(n, length) for n, length in zip(n.tolist(), of_run.tolist(), strict=True) if length]
