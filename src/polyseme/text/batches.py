"""Packed batches: parts of a large Batch, filled by a budget of positions from length-sorted windows."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyseme.types import Batch, Packed


def groups(lengths: Tensor, budget: int, window: int | None = None, times: int = 1) -> Iterator[Tensor]:
    """Indices of sequences for one batch after another: of like length, together at most `budget` positions.

    Sorting happens within windows of that many sequences (None: all of them), so that a stream needs no end. A
    sequence longer than the budget has a batch of its own. Of a window's batches there are so many `times` any number,
    as even as can be: those who work on them at the same time then end at the same time.

    >>> [group.tolist() for group in groups(torch.tensor([5, 1, 5, 2]), budget=8)]
    [[1, 3, 0], [2]]
    >>> [group.tolist() for group in groups(torch.tensor([5, 1, 5, 2, 3]), budget=13, times=2)]
    [[1, 3, 4], [0, 2]]
    """
    for start in range(0, len(lengths), window or max(1, len(lengths))):
        part = lengths[start : start + (window or len(lengths))]
        order = part.argsort(stable=True)
        cuts = _cuts(part[order].cumsum(0).numpy(), budget, times)
        for first, last in pairwise(cuts):
            yield order[first:last] + start


def _cuts(ends: NDArray[np.int64], budget: int, times: int) -> list[int]:
    """Where batches begin, and the end; with the lowest budget that makes no more of them than are wanted."""
    cuts = _filled(ends, budget)
    if times == 1:
        return cuts
    wanted, low = -(-(len(cuts) - 1) // times) * times, 0
    while low + 1 < budget:
        middle = (low + budget) // 2
        fewer = _filled(ends, middle)
        if len(fewer) - 1 <= wanted:
            cuts, budget = fewer, middle
        else:
            low = middle
    return cuts


def _filled(ends: NDArray[np.int64], budget: int) -> list[int]:
    cuts, before = [0], 0
    while cuts[-1] < len(ends):
        last = int(np.searchsorted(ends, before + budget, side="right"))
        cuts.append(max(last, cuts[-1] + 1))
        before = int(ends[cuts[-1] - 1])
    return cuts


def take(batch: Batch, sequences: Tensor) -> Batch:
    """The Batch of these sequences, in this order; its ids are numbered anew where they have spellings."""
    positions, offsets = _rows(batch.offsets, sequences)
    ids, spellings = batch.ids[positions], batch.spellings
    if spellings is not None:
        used, ids = torch.unique(ids, return_inverse=True)
        spellings = take_rows(spellings, used)
    return Batch(
        ids=ids,
        offsets=offsets,
        words=batch.words[positions],
        n_words=batch.n_words[sequences],
        texts=batch.texts[sequences],
        segments=None if batch.segments is None else batch.segments[positions],
        spellings=spellings,
        owned=None if batch.owned is None else batch.owned[positions],
        starts=None if batch.starts is None else batch.starts[sequences],
    )


def take_rows(packed: Packed, rows: Tensor) -> Packed:
    """The Packed of these rows, in this order.

    >>> some = take_rows(Packed(torch.tensor([7, 8, 9]), torch.tensor([0, 1, 3])), torch.tensor([1, 0]))
    >>> some.values.tolist(), some.offsets.tolist()
    ([8, 9, 7], [0, 2, 3])
    """
    positions, offsets = _rows(packed.offsets, rows)
    return Packed(packed.values[positions], offsets)


def offsets_of(lengths: Tensor) -> Tensor:
    """Where each row begins, and the end: (rows + 1,).

    >>> offsets_of(torch.tensor([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def ranges(starts: Tensor, counts: Tensor) -> Tensor:
    """Every number of each range, one range after another.

    >>> ranges(torch.tensor([5, 0]), torch.tensor([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    return torch.arange(int(counts.sum())) + (starts - counts.cumsum(0) + counts).repeat_interleave(counts)


def _rows(offsets: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The positions of some rows, one after another, and the offsets they then have."""
    lengths = offsets.diff()[rows]
    return ranges(offsets[rows], lengths), offsets_of(lengths)
