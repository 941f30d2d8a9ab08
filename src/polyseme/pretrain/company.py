"""What a new model's word vectors begin as: the company each word keeps (Firth 1957)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_WINDOW = 5  # places to either side
_SMOOTH = 0.75  # of the neighbours' frequencies, as in word2vec's negative samples: rare neighbours tell less
_MOST_CELLS = 1 << 25  # of the table of words by neighbours
_MOST_READ, _AT_ONCE = 1 << 26, 1 << 22  # words

Ids = NDArray[np.uint32]


def company(
    ids: Ids, n_words: int, width: int, numbers: Callable[[Ids], NDArray[np.int64]], tell: Callable[[int, int], None]
) -> tuple[Tensor, Tensor]:
    """(words, width), of spread 1: what tells best which neighbours a word has more often than others have; and
    (words,) the logarithm of each one's share in the text.

    The vectors are principal components of the positive pointwise mutual information of words and neighbours, which
    skip-gram factorises too (Levy & Goldberg 2014), but in seconds. A word that never comes has zeros. `numbers` makes
    words of ids.
    """
    parts = _Parts(ids, numbers, tell)
    counts = np.zeros(n_words, np.int64)
    for part in parts:
        counts += np.bincount(part, minlength=n_words)
    frequent = np.argsort(-counts, kind="stable")[: min(n_words, max(width, _MOST_CELLS // n_words))]
    vectors = torch.zeros(n_words, width)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        left, sizes, _ = torch.svd_lowrank(_information(_pairs(parts, frequent, n_words)), min(width, len(frequent)))
    vectors[:, : len(sizes)] = left * sizes.sqrt()
    known = torch.from_numpy(counts > 0)
    vectors[~known] = 0
    shares = (1 + counts) / (1 + counts).sum()
    return vectors / vectors[known].square().mean().sqrt().clamp(min=1e-9), torch.from_numpy(np.log(shares)).float()


class _Parts:
    """A text in parts, from all over it where it is large; it is gone through twice."""

    def __init__(self, ids: Ids, numbers: Callable[[Ids], NDArray[np.int64]], tell: Callable[[int, int], None]) -> None:
        starts = range(0, len(ids), _AT_ONCE)
        self.ids, self.numbers, self.tell = ids, numbers, tell
        self.starts = starts[:: max(1, -(-len(starts) * _AT_ONCE // _MOST_READ))]
        self.n_told = 0

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        for start in self.starts:
            yield self.numbers(self.ids[start : start + _AT_ONCE])
            self.n_told += 1
            self.tell(self.n_told, 2 * len(self.starts))


def _pairs(parts: _Parts, frequent: NDArray[np.int64], n_words: int) -> NDArray[np.float32]:
    """(words, neighbours): how often each has been near each, nearer ones counting more."""
    place = np.full(n_words, -1, np.int64)
    place[frequent] = np.arange(len(frequent))
    table = np.zeros(n_words * len(frequent), np.float32)
    for words in parts:
        for distance in range(1, _WINDOW + 1):
            before, after = words[:-distance], words[distance:]
            near = np.concatenate([place[after], place[before]])
            cells = np.concatenate([before, after]) * len(frequent) + near
            weight = np.float32(1 - (distance - 1) / _WINDOW)
            table += weight * np.bincount(cells[near >= 0], minlength=len(table)).astype(np.float32)
    return table.reshape(n_words, len(frequent))


def _information(pairs: NDArray[np.float32]) -> Tensor:
    """The positive pointwise mutual information: how much more often than by chance, as a logarithm."""
    table = torch.from_numpy(pairs)
    words, neighbours = table.sum(1, keepdim=True), table.sum(0).pow(_SMOOTH)
    chance = neighbours / neighbours.sum().clamp(min=1e-9)
    return table.div_(words.clamp(min=1e-9)).div_(chance.clamp(min=1e-12)).log_().clamp_(min=0)
