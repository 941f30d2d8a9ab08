"""Windows over a text that is longer than an encoder reads at once, each word owned by exactly one of them."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Window(NamedTuple):
    """Pieces [start, end) of a text, and the words of it that this window owns."""

    start: int
    end: int
    first_word: int
    n_words: int


def windows(words: Integers, n_words: int, room: int, overlap: int) -> list[Window]:
    """Windows of at most `room` pieces; `words` has each piece's word, never falling, or -1.

    Neighbours share at least `overlap` pieces. A word goes to the window where the nearer of its two edges is
    farther away. All its pieces are inside that window, unless it has more pieces than there is room for.

    >>> windows(np.array([0, 0, 1, 2, 3, 3]), n_words=4, room=4, overlap=2)
    [Window(start=0, end=4, first_word=0, n_words=2), Window(start=2, end=6, first_word=2, n_words=2)]
    """
    assert 0 <= overlap < room
    if len(words) <= room:
        return [Window(0, len(words), 0, n_words)]
    first, last = _extents(words, n_words)
    starts = np.array(_starts(words, first, last, room, overlap))
    owner = _owners(starts, first, last, room)
    counts = np.bincount(owner, minlength=len(starts))
    first_words = counts.cumsum() - counts
    return [
        Window(start, min(start + room, len(words)), first_word, count)
        for start, first_word, count in zip(starts.tolist(), first_words.tolist(), counts.tolist(), strict=True)
    ]


def shares(words: Integers, n_words: int, found: list[Window]) -> list[tuple[int, int]]:
    """The pieces [start, end) that each window owns: every piece of the text once, with its word where that fits.

    >>> words = np.array([0, 0, 1, 2, 3, 3])
    >>> shares(words, 4, windows(words, n_words=4, room=4, overlap=2))
    [(0, 3), (3, 6)]
    """
    first = np.append(_extents(words, n_words)[0], len(words))
    ends = [  # where the next window's first word begins; a word longer than a window is cut at its edges
        min(max(int(first[after.first_word]), after.start), before.end) for before, after in pairwise(found)
    ]
    return list(zip([0, *ends], [*ends, len(words)], strict=True))


def _extents(words: Integers, n_words: int) -> tuple[Integers, Integers]:
    """The first and the last piece of each word; for a word without pieces the last is before the first."""
    places = np.append(np.flatnonzero(words >= 0), len(words))
    owned = words[places[:-1]]
    numbers = np.arange(n_words)
    after = np.searchsorted(owned, numbers, side="right")
    before = np.searchsorted(owned, numbers, side="left")
    return places[before], np.where(after > before, places[after - 1], -1)


def _starts(words: Integers, first: Integers, last: Integers, room: int, overlap: int) -> list[int]:
    """Where windows begin: evenly, the last one full, but earlier where a word would fit in neither neighbour."""
    starts = [0]
    while (end := starts[-1] + room) < len(words):
        start = min(end - overlap, len(words) - room)
        word = words[start]
        if word >= 0 and last[word] >= end and first[word] > starts[-1]:
            start = int(first[word])
        starts.append(start)
    return starts


def _owners(starts: Integers, first: Integers, last: Integers, room: int) -> Integers:
    """The window of each word; one without pieces goes with the word before it."""
    middles = starts[1:] + starts[:-1] + room - 1  # twice the middle of what two neighbours share
    owner = np.searchsorted(middles, first + last)
    owner[last < 0] = 0
    return np.maximum.accumulate(owner)
