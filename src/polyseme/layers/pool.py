"""Many rows to one: pieces to words, words to a text."""

from dataclasses import replace

import torch
from torch import Tensor

from polyseme.layers.time_major import sequences_of
from polyseme.types import Batch, Encoding


def to_words(encoding: Encoding, batch: Batch) -> Encoding:
    """One row a word, the mean of its pieces; a word without pieces has a row of zeros."""
    offsets = torch.cat([batch.n_words.new_zeros(1), batch.n_words.cumsum(0)])
    first_word = offsets[:-1].repeat_interleave(batch.lengths)  # (positions,) of the position's sequence
    owned = batch.words >= 0
    rows, n_words = (first_word + batch.words)[owned], int(offsets[-1])
    if n_words == len(batch.words) and torch.equal(rows, torch.arange(n_words, device=rows.device)):
        return replace(encoding, offsets=offsets)  # every piece is a word already
    return replace(
        encoding, layers=tuple(_mean(layer[owned], rows, n_words) for layer in encoding.layers), offsets=offsets
    )


def mean(vectors: Tensor, offsets: Tensor) -> Tensor:
    """The mean of each sequence's rows; zeros where it has none.

    >>> mean(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 2, 2, 3])).tolist()
    [[2.0], [0.0], [5.0]]
    """
    return total(vectors, offsets) / offsets.diff().clamp(min=1).unsqueeze(1)


def total(vectors: Tensor, offsets: Tensor) -> Tensor:
    """The sum of each sequence's rows."""
    return vectors.new_zeros(len(offsets) - 1, vectors.shape[1]).index_add(0, sequences_of(offsets), vectors)


def maximum(vectors: Tensor, offsets: Tensor) -> Tensor:
    """The highest of each column of a sequence's rows; zeros where it has none.

    >>> maximum(torch.tensor([[-1.0], [-3.0], [5.0]]), torch.tensor([0, 2, 2, 3])).tolist()
    [[-1.0], [0.0], [5.0]]
    """
    rows = sequences_of(offsets).unsqueeze(1).expand_as(vectors)
    none = vectors.new_zeros(len(offsets) - 1, vectors.shape[1])
    return none.scatter_reduce(0, rows, vectors, "amax", include_self=False)


def last(vectors: Tensor, offsets: Tensor, n_backward: int = 0) -> Tensor:
    """Where reading ends: each sequence's last row, but for the last `n_backward` columns, read backwards, its first.

    A sequence without rows has zeros.

    >>> last(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 2, 2, 3])).tolist()
    [[3.0], [0.0], [5.0]]
    """
    filled = (offsets.diff() > 0).nonzero().flatten()
    none, n_forward = vectors.new_zeros(len(offsets) - 1, vectors.shape[1]), vectors.shape[1] - n_backward
    ends = [vectors[offsets[filled + 1] - 1, :n_forward], vectors[offsets[filled], n_forward:]]
    return none.index_copy(0, filled, torch.cat(ends, 1))


def logsumexp(vectors: Tensor, offsets: Tensor) -> Tensor:
    """The logarithm of the sum of the exponentials of each sequence's rows; -inf where it has none.

    >>> logsumexp(torch.tensor([[0.0], [0.0], [5.0]]), torch.tensor([0, 2, 2, 3])).exp().round().tolist()
    [[2.0], [0.0], [148.0]]
    """
    highest = maximum(vectors.detach(), offsets)
    return total((vectors - highest[sequences_of(offsets)]).exp(), offsets).log() + highest


def concat(vectors: Tensor, offsets: Tensor, n_backward: int = 0) -> Tensor:
    """[last; maximum; mean], three times as wide: ULMFiT's pooling (Howard & Ruder 2018)."""
    return torch.cat([last(vectors, offsets, n_backward), maximum(vectors, offsets), mean(vectors, offsets)], 1)


def _mean(vectors: Tensor, rows: Tensor, n_rows: int) -> Tensor:
    total = vectors.new_zeros(n_rows, vectors.shape[1]).index_add(0, rows, vectors)
    counts = torch.bincount(rows, minlength=n_rows).clamp(min=1)
    return total / counts.unsqueeze(1)
