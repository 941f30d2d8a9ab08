"""Pieces of texts to sequences with [CLS] and [SEP], of one text or of a pair."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from polyseme.text.windows import Integers, Window, shares, windows
from polyseme.types import Batch

Long = Literal["cut", "windows"]


class Pieces(NamedTuple):
    """The pieces of one text among those of all texts."""

    start: int
    words: Integers
    n_words: int


@dataclass(frozen=True)
class Cut:
    """The pieces of many texts end to end, without special ones, and each one's word in its text."""

    ids: Integers
    words: Integers
    lengths: Integers
    n_words: Integers

    def texts(self) -> Iterator[Pieces]:
        starts = (self.lengths.cumsum() - self.lengths).tolist()
        for start, length, n_words in zip(starts, self.lengths.tolist(), self.n_words.tolist(), strict=True):
            yield Pieces(start, self.words[start : start + length], n_words)


@dataclass(frozen=True)
class Part:
    """A stretch of one text's pieces in a sequence."""

    number: int  # of the text or the pair
    start: int  # of the text among all pieces
    window: Window


def single(cut: Cut, room: int, overlap: int) -> list[Part]:
    """The parts of texts that stand alone, several for a long one."""
    return [
        Part(number, text.start, window)
        for number, text in enumerate(cut.texts())
        for window in windows(text.words, text.n_words, room, min(overlap, room // 2))
    ]


def paired(cut: Cut, room: int, overlap: int, long: Long) -> list[Part]:
    """The parts of pairs in turn, first and second; in `cut` all first texts stand before all second ones."""
    texts = list(cut.texts())
    half, parts = len(texts) // 2, []
    for number, (first, second) in enumerate(zip(texts[:half], texts[half:], strict=True)):
        found = _beside(first, second, room, overlap) if long == "windows" else _shortened(first, second, room)
        for a, b in found:
            parts += [Part(number, first.start, a), Part(number, second.start, b)]
    return parts


def join(cut: Cut, parts: list[Part], each: int, cls: int, sep: int) -> Batch:
    """One Batch of sequences with `each` (1 or 2) parts: [CLS] before the first, [SEP] behind all."""
    rows = [(part.start + part.window.start, *part.window) for part in parts]
    source, start, end, first_word, n_words = np.array(rows, np.int64).reshape(-1, 5).T
    lengths, leads = end - start, (np.arange(len(parts)) % each == 0).astype(np.int64)
    sizes = leads + lengths + 1
    ends = sizes.cumsum()

    ordinals = np.arange(lengths.sum()) - (lengths.cumsum() - lengths).repeat(lengths)
    there = source.repeat(lengths) + ordinals
    here = (ends - sizes + leads).repeat(lengths) + ordinals
    ids = np.full(sizes.sum(), sep, np.int64)
    ids[(ends - sizes)[leads == 1]] = cls
    ids[here] = cut.ids[there]
    words = np.full(len(ids), -1, np.int64)
    before = np.where(leads == 1, 0, np.roll(n_words, 1))  # the words of a pair's first text
    words[here] = _owned(cut.words[there], first_word, n_words, before, lengths)
    return Batch(
        ids=torch.from_numpy(ids),
        offsets=torch.from_numpy(np.append(0, ends[each - 1 :: each])),
        words=torch.from_numpy(words),
        n_words=torch.from_numpy(n_words.reshape(-1, each).sum(1)),
        texts=torch.tensor([part.number for part in parts[::each]], dtype=torch.long),
        segments=torch.from_numpy((1 - leads).repeat(sizes)) if each == 2 else None,
    )


def owned(cut: Cut, parts: list[Part]) -> Tensor | None:
    """Which positions of the sequences of `single` are their own; [CLS] is the first window's, [SEP] the last's."""
    if len(parts) == len(cut.lengths):
        return None
    own = []
    for text, group in zip(cut.texts(), groupby(parts, attrgetter("number")), strict=True):
        found = [part.window for part in group[1]]
        for window, (start, end) in zip(found, shares(text.words, text.n_words, found), strict=True):
            rows = np.zeros(window.end - window.start + 2, np.bool_)
            rows[start - window.start + 1 : end - window.start + 1] = True
            rows[0], rows[-1] = window is found[0], window is found[-1]
            own.append(rows)
    return torch.from_numpy(np.concatenate(own))


def _owned(words: Integers, first: Integers, n_words: Integers, before: Integers, lengths: Integers) -> Integers:
    """Words of texts to words of sequences; -1 for those that another window owns."""
    own = words - first.repeat(lengths)
    owned = (words >= 0) & (own >= 0) & (own < n_words.repeat(lengths))
    return np.where(owned, own + before.repeat(lengths), -1)


def _shortened(first: Pieces, second: Pieces, room: int) -> list[tuple[Window, Window]]:
    """A pair without the end of its longer text, or of both."""
    n_first, n_second = len(first.words), len(second.words)
    if n_first + n_second > room:
        less = min(n_first, n_second, room // 2)
        n_first, n_second = (less, room - less) if n_first <= n_second else (room - less, less)
    return [(Window(0, n_first, 0, _n_left(first, n_first)), Window(0, n_second, 0, _n_left(second, n_second)))]


def _n_left(text: Pieces, n_pieces: int) -> int:
    """How many words there are when only so many pieces are left."""
    if n_pieces == len(text.words):
        return text.n_words
    return int(text.words[:n_pieces].max(initial=-1)) + 1


def _beside(first: Pieces, second: Pieces, room: int, overlap: int) -> list[tuple[Window, Window]]:
    """The first text, cut at half of the room, beside each window of the second."""
    n_first = min(len(first.words), max(room // 2, room - len(second.words)))
    rest = max(1, room - n_first)  # an empty second text needs none
    found = windows(second.words, second.n_words, rest, min(overlap, rest // 2))
    return [(Window(0, n_first, 0, 0 if i else first.n_words), window) for i, window in enumerate(found)]
