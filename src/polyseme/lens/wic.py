"""Word in context: whether a word means the same in two sentences, by a threshold on the cosine of its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyseme.encoders import Pretrained
from polyseme.lens.in_context import Span, Tell, Words, directions, silent, vectors
from polyseme.tasks.intervals import share
from polyseme.tasks.wic import WordInContexts

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class WicLayer:
    """How well one layer tells; the threshold is chosen on what is learned from."""

    layer: int
    accuracy: float
    low: float
    high: float
    threshold: float
    learned: float  # the accuracy on what the threshold was chosen on


def wic(
    pretrained: Pretrained, train: Sequence[WordInContexts], test: Sequence[WordInContexts], tell: Tell = silent
) -> list[WicLayer]:
    """Accuracy at each layer, without anything learned but the threshold."""
    examples = [*train, *test]
    same = np.array([example.same for example in examples])
    found = []
    for number, cosines in enumerate(_cosines(pretrained, examples, tell)):
        threshold = best_threshold(cosines[: len(train)], same[: len(train)])
        right = (cosines >= threshold) == same
        accuracy = share(int(right[len(train) :].sum()), len(test))
        found.append(WicLayer(number, *accuracy, threshold, float(right[: len(train)].mean())))
    return found


def best_threshold(cosines: NDArray[np.floating], same: Flags) -> float:
    """From where on to say "the same": the most are then right; half way between two values that occur.

    >>> round(best_threshold(np.array([0.1, 0.4, 0.5, 0.9]), np.array([False, False, True, True])), 2)
    0.45
    """
    order = np.argsort(cosines, kind="stable")
    values, kinds = cosines[order].astype(float), same[order]
    n_right = np.concatenate([[0], np.cumsum(~kinds)]) + np.concatenate([np.cumsum(kinds[::-1])[::-1], [0]])
    possible = np.concatenate([[True], values[1:] > values[:-1], [True]])  # equal values cannot be parted
    place = int(np.argmax(np.where(possible, n_right, -1)))
    bounds = np.concatenate([[values[0] - 1e-6], (values[1:] + values[:-1]) / 2, [values[-1] + 1e-6]])
    return float(bounds[place])


def _cosines(pretrained: Pretrained, examples: Sequence[WordInContexts], tell: Tell) -> list[NDArray[np.float64]]:
    """(examples,) at each layer; in 32 bits a threshold between two neighbours could not be told from them."""
    texts: list[Words] = []
    spans: list[Span] = []
    for one in examples:
        for words, place in ((one.words_a, one.place_a), (one.words_b, one.place_b)):
            spans.append(Span(len(texts), place, place + 1))
            texts.append(words)
    layers = [directions(layer) for layer in vectors(pretrained, texts, spans, tell)]
    return [(layer[0::2] * layer[1::2]).sum(1, dtype=np.float64) for layer in layers]
