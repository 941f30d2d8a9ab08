"""How a layer's vectors fill their space, and how much a word's vector owes to its context (Ethayarajh 2019)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.lens.in_context import Array, Ids, Tell, directions, silent, stream, words_of
from polyseme.types import Text

_LEAST_CONTEXTS = 5  # of a word whose self-similarity is measured, as in the paper
_MOST_WORDS, _MOST_RANDOM = 1000, 1000


@dataclass(frozen=True)
class Isotropy:
    """Mean cosines at one layer; what is adjusted has that of random words taken off."""

    layer: int
    random: float  # of words drawn at random: 0 where vectors point everywhere, 1 where all point one way
    self_similarity: float  # of a word with itself in other contexts: 1 for static vectors
    self_adjusted: float
    intra_sentence: float  # of a word with the mean of its sentence
    intra_adjusted: float


def isotropy(pretrained: Pretrained, texts: Sequence[Text], seed: int = 0, tell: Tell = silent) -> list[Isotropy]:
    """Of sentences, read in bounded memory. Words are told apart by spelling, capital letters aside."""
    spans = words_of(texts)
    types = _numbered(texts)
    if len(spans) < 2:
        raise Mistake(f"There are {len(spans)} words in the text; give some sentences.")
    chosen = _repeated(types, seed)
    drawn = np.random.default_rng(seed % 2**32).permutation(len(spans))[:_MOST_RANDOM]
    sums = [_Sums(len(chosen), len(drawn), width) for width in pretrained.encoder.widths]
    row_of_type = np.full(int(types.max()) + 1, -1)
    row_of_type[chosen] = np.arange(len(chosen))
    row_of_draw = np.full(len(spans), -1)
    row_of_draw[drawn] = np.arange(len(drawn))
    for some in stream(pretrained, texts, spans, tell):
        of_text = np.array([spans[number].text for number in some.numbers])
        for total, layer in zip(sums, some.layers, strict=True):
            total.add(layer, row_of_type[types[some.numbers]], row_of_draw[some.numbers], of_text)
    return [total.found(number) for number, total in enumerate(sums)]


class _Sums:
    """What is kept of a layer while it streams by."""

    def __init__(self, n_words: int, n_random: int, width: int) -> None:
        self.words, self.counts = np.zeros((n_words, width)), np.zeros(n_words)
        self.random = np.zeros((n_random, width))
        self.within, self.n_sentences = 0.0, 0

    def add(self, layer: Array, words: Ids, draws: Ids, of_text: Ids) -> None:
        rows = directions(layer)
        there = (words >= 0) & rows.any(1)  # an unknown word has no direction
        np.add.at(self.words, words[there], rows[there])
        np.add.at(self.counts, words[there], 1)
        self.random[draws[draws >= 0]] = rows[draws >= 0]
        starts = np.flatnonzero(np.diff(of_text, prepend=-1))  # a text's words stand together
        sizes = np.diff(starts, append=len(of_text))
        means = directions(np.add.reduceat(layer, starts))
        cosines = (rows * means.repeat(sizes, 0)).sum(1)
        known = np.add.reduceat(rows.any(1).astype(int), starts)
        self.within += float((np.add.reduceat(cosines, starts) / np.maximum(known, 1)).sum())
        self.n_sentences += int((known > 0).sum())

    def found(self, layer: int) -> Isotropy:
        random = _mean_cosine(self.random[self.random.any(1)])
        several = self.counts > 1
        lengths = (self.words[several] ** 2).sum(1)
        counts = self.counts[several]
        own = float(((lengths - counts) / (counts * (counts - 1))).mean()) if several.any() else float("nan")
        within = self.within / max(1, self.n_sentences)
        return Isotropy(layer, random, own, own - random, within, within - random)


def _mean_cosine(rows: NDArray[np.float64]) -> float:
    """Of all pairs of different rows, each of length 1: the square of their sum holds every pair twice.

    >>> _mean_cosine(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    0.3333333333333333
    """
    n = len(rows)
    return float(((rows.sum(0) ** 2).sum() - n) / (n * (n - 1))) if n > 1 else float("nan")


def _numbered(texts: Sequence[Text]) -> Ids:
    """(words,) a number for each spelling."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(word.casefold(), len(numbers)) for text in texts for word in text.words])


def _repeated(types: Ids, seed: int) -> Ids:
    """The types that occur often enough, or some of them."""
    counts = Counter(types.tolist())
    often = np.array(sorted(number for number, count in counts.items() if count >= _LEAST_CONTEXTS), dtype=np.int64)
    return np.sort(np.random.default_rng(seed % 2**32).permutation(often)[:_MOST_WORDS])
