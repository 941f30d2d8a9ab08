"""Word similarity: whether words that people find alike have vectors that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyseme.encoders import Pretrained
from polyseme.lens.in_context import Span, Tell, directions, silent, vectors
from polyseme.tasks.intervals import correlation
from polyseme.tasks.scores import spearman
from polyseme.tasks.word_pairs import WordPair


@dataclass(frozen=True)
class SimilarityLayer:
    """Spearman's correlation of cosines with what people say, over the pairs whose words have vectors."""

    layer: int
    spearman: float
    low: float
    high: float
    covered: float  # the share of pairs both of whose words have a vector


def similarity(pretrained: Pretrained, pairs: Sequence[WordPair], tell: Tell = silent) -> list[SimilarityLayer]:
    """At each layer; every word is a text of its own, so an encoder of contexts sees none."""
    words = sorted({word for pair in pairs for word in (pair.one, pair.other)})
    place = {word: number for number, word in enumerate(words)}
    layers = vectors(pretrained, [[word] for word in words], [Span(n, 0, 1) for n in range(len(words))], tell)
    ones, others = ([place[pair.one] for pair in pairs], [place[pair.other] for pair in pairs])
    scores = np.array([pair.score for pair in pairs])
    found = []
    for number, layer in enumerate(layers):
        rows = directions(layer)
        there = rows[ones].any(1) & rows[others].any(1)
        cosines = (rows[ones] * rows[others]).sum(1)
        n = int(there.sum())
        value = spearman(scores[there], cosines[there]) if n else float("nan")
        found.append(SimilarityLayer(number, *correlation(value, n), n / len(pairs)))
    return found
