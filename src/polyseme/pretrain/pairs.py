"""Documents cut into BERT's sequences: single stretches of text, or pairs that follow each other or do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import Mistake

Ids = NDArray[np.int64]

_STRETCH = (
    2000  # sentences of a document that are cut one after another; longer documents are cut in parts side by side
)


@dataclass(frozen=True)
class Sequences:
    """Which pieces make up each sequence, all (sequences,); without pairs the second parts are empty."""

    first: Ids  # where the first part begins among all pieces
    n_first: Ids
    second: Ids
    n_second: Ids
    follows: NDArray[np.bool_]  # whether the second part stands behind the first in its document

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, rows: Ids) -> Sequences:
        first, second = (self.first[rows], self.n_first[rows]), (self.second[rows], self.n_second[rows])
        return Sequences(*first, *second, self.follows[rows])

    @property
    def n_pieces(self) -> Ids:
        """(sequences,), special pieces not counted."""
        return self.n_first + self.n_second


@dataclass(frozen=True)
class Cuts:
    """Sentences and documents as they can be cut: no sentence has more than `room` pieces."""

    sentences: Ids  # (sentences + 1,) where each begins among all pieces
    documents: Ids  # (documents + 1,) the first sentence of each
    room: int  # pieces of a sequence, special ones not counted

    @classmethod
    def of(cls, sentences: Ids, documents: Ids, room: int) -> Cuts:
        """Sentences that are longer than a sequence, as in text without full stops, are several."""
        n_parts = -(-np.diff(sentences) // room)
        if n_parts.size == 0 or n_parts.max() <= 1:
            return cls(sentences, documents, room)
        ends = np.append(0, n_parts.cumsum())
        within = np.arange(ends[-1]) - ends[:-1].repeat(n_parts)
        cut = sentences[:-1].repeat(n_parts) + within * room
        return cls(np.append(cut, sentences[-1]), ends[documents], room)

    def until(self, start: Ids, n_pieces: Ids, last: Ids) -> Ids:
        """The sentence behind those that have that many pieces together, from `start` on, or `last`."""
        enough = np.searchsorted(self.sentences, self.sentences[start] + n_pieces)
        return np.minimum(np.maximum(enough, start + 1), last)


def cut_singles(cuts: Cuts, short: float, rng: np.random.Generator) -> Sequences:
    """All text as sequences that begin with a sentence and are full, or end with their document.

    Where the last sentence has no room, it is cut, and begins the next sequence. A part of them, `short`, is shorter,
    so that a model meets all lengths.
    """
    now, ends, _ = _stretches(cuts.documents)
    found = []
    while len(now):
        target = _targets(len(now), cuts.room, short, rng)
        last = cuts.until(now, target, ends)
        there = cuts.sentences[last] - cuts.sentences[now]
        found.append((cuts.sentences[now], np.minimum(there, target)))
        now = np.where(there <= target, last, np.maximum(last - 1, now + 1))
        now, ends = now[now < ends], ends[now < ends]
    first, n_first = map(np.concatenate, zip(*found, strict=True))
    none = np.zeros_like(first)
    return Sequences(first, n_first, none, none, np.zeros(len(first), np.bool_))


def cut_pairs(cuts: Cuts, short: float, rng: np.random.Generator) -> Sequences:
    """All text as pairs, as in the paper's create_pretraining_data.py.

    Sentences of a document until there are enough, parted anywhere between two; then half of the time the second part
    is replaced by sentences of another document, and stands at the beginning of the next pair.
    """
    if len(cuts.documents) < 3:
        raise Mistake(
            "Pairs of sentences that do not belong together come from two documents; the text has one. "
            "Leave them out with --set adjacent=false, or part the text by blank lines."
        )
    now, ends, document = _stretches(cuts.documents)
    found = []
    while len(now):
        target = _targets(len(now), cuts.room, short, rng)
        last = cuts.until(now, target, ends)
        middle = now + 1 + _below(np.maximum(last - now - 1, 1), rng)
        middle = np.minimum(middle, last)  # a single sentence is all first part
        follows = (last > middle) & (rng.random(len(now)) >= 0.5)
        n_first = cuts.sentences[middle] - cuts.sentences[now]
        other, other_last = _elsewhere(cuts, document, np.maximum(target - n_first, 1), rng)
        second, second_last = np.where(follows, middle, other), np.where(follows, last, other_last)
        n_second = cuts.sentences[second_last] - cuts.sentences[second]
        found.append((cuts.sentences[now], n_first, cuts.sentences[second], n_second, follows))
        now = np.where(follows, last, middle)
        going = now < ends
        now, ends, document = now[going], ends[going], document[going]
    return _shortened(Sequences(*map(np.concatenate, zip(*found, strict=True))), cuts.room, rng)


def _stretches(documents: Ids) -> tuple[Ids, Ids, Ids]:
    """First sentence, last sentence and document of the stretches that are cut side by side."""
    n_parts = -(-np.diff(documents) // _STRETCH)
    number = np.arange(len(n_parts)).repeat(n_parts)
    within = np.arange(n_parts.sum()) - (n_parts.cumsum() - n_parts).repeat(n_parts)
    first = documents[number] + within * _STRETCH
    return first, np.minimum(first + _STRETCH, documents[number + 1]), number


def _targets(n: int, room: int, short: float, rng: np.random.Generator) -> Ids:
    """How many pieces each sequence should have: all that fit, or for some of them less."""
    is_short = rng.random(n) < short
    return np.where(is_short, rng.integers(2, room + 1, n), room)


def _elsewhere(cuts: Cuts, document: Ids, n_pieces: Ids, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Sentences of another document, from anywhere in it, that have about that many pieces."""
    n_documents = len(cuts.documents) - 1
    other = _below(np.full(len(document), n_documents - 1), rng)
    other += other >= document
    begin, end = cuts.documents[other], cuts.documents[other + 1]
    start = begin + _below(end - begin, rng)
    return start, cuts.until(start, n_pieces, end)


def _below(limits: Ids, rng: np.random.Generator) -> Ids:
    """A number from 0 to less than each limit."""
    return (rng.random(len(limits)) * limits).astype(np.int64)


def _shortened(pairs: Sequences, room: int, rng: np.random.Generator) -> Sequences:
    """Pairs that fit: the longer part loses pieces one by one, at its begin or its end as a coin falls."""
    n_first, n_second = pairs.n_first, pairs.n_second
    half = room // 2
    fit_first = np.where(n_second <= half, np.minimum(n_first, room - n_second), np.minimum(n_first, room - half))
    fit_second = np.minimum(n_second, room - fit_first)
    before = rng.binomial(n_first - fit_first, 0.5), rng.binomial(n_second - fit_second, 0.5)
    return Sequences(pairs.first + before[0], fit_first, pairs.second + before[1], fit_second, pairs.follows)
