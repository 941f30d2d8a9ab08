"""Linear probes: what a linear classifier can read of a layer, beside what it can learn of anything (control tasks)."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.lens.in_context import Array, Span, Tell, silent, vectors
from polyseme.tasks.examples import TaggedWords
from polyseme.tasks.intervals import Estimate, clustered_share
from polyseme.text.order import seed_for

Names = NDArray[Any]

_MOST_STEPS = 300
_MOST_BYTES = 4 << 30  # for the vectors of all words at all layers


@dataclass(frozen=True)
class Probe:
    """What was read of one layer. Selectivity is the accuracy less that of the control task."""

    layer: int
    accuracy: float
    low: float
    high: float
    control: float
    selectivity: float


@dataclass(frozen=True)
class Probes:
    """All layers, and what is right without any vectors: the tag that a word most often has."""

    layers: list[Probe]
    baseline: float
    n_train: int  # words
    n_test: int
    unconverged: int  # probes that were stopped before they had learned all they can


def probe(
    pretrained: Pretrained, train: Sequence[TaggedWords], test: Sequence[TaggedWords], seed: int = 0,
    strength: float = 1.0, tell: Tell = silent,
) -> Probes:  # fmt: skip
    """A softmax regression a layer, on columns of mean 0 and variance 1; `strength` is the inverse of its penalty.

    The control task (Hewitt & Liang 2019) gives each word type a tag at random, as often as tags occur, the same in
    train and test: a probe that is good at it learns words by heart, and what it says of a layer is worth less.
    """
    sentences = [*train, *test]
    n_train = sum(len(one.words) for one in train)
    tags: Names = np.array([tag for one in sentences for tag in one.tags])
    if len(set(tags[:n_train])) < 2:
        raise Mistake(f"All words have the tag {str(tags[0])!r}. Two tags are the least to tell apart.")
    controls = control_tags([word for one in sentences for word in one.words], tags[:n_train], seed)
    _refuse_too_many(len(tags), pretrained.encoder.widths)
    spans = [Span(number, place, place + 1) for number, one in enumerate(sentences) for place in range(len(one.words))]
    layers = vectors(pretrained, [one.words for one in sentences], spans, lambda done, all: tell(done / 2, all))
    sizes = [len(one.words) for one in test]
    found, unconverged = [], 0
    for number, rows in enumerate(layers):
        rows = _standardised(rows, n_train)
        (right, stopped), (control, stopped_too) = (_right(rows, one, n_train, strength) for one in (tags, controls))
        accuracy = _of_sentences(right, sizes)
        found.append(Probe(number, *accuracy, float(control.mean()), accuracy.value - float(control.mean())))
        unconverged += stopped + stopped_too
        tell(0.5 + 0.5 * (number + 1) / len(layers), 1)
    return Probes(found, _baseline(train, test), n_train, len(tags) - n_train, unconverged)


def control_tags(words: Sequence[str], tags: Names, seed: int) -> Names:
    """A tag for each word, the same wherever it stands, drawn from those that occur, each as likely as it is often."""
    ordered = np.sort(tags)
    drawn = {word: ordered[seed_for(seed, _number(word)) % len(ordered)] for word in set(words)}
    return np.array([drawn[word] for word in words])


def _refuse_too_many(n_words: int, widths: Sequence[int]) -> None:
    n_bytes = 4 * n_words * sum(widths)
    if n_bytes > _MOST_BYTES:
        raise Mistake(
            f"The vectors of {n_words:,} words at {len(widths)} layers would take {n_bytes / 2**30:.1f} GB of memory; "
            f"{_MOST_BYTES >> 30} GB is the most. Take fewer sentences with --limit."
        )


def _number(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode(errors="surrogatepass")).digest()[:8])


def _standardised(rows: Array, n_train: int) -> Array:
    mean, spread = rows[:n_train].mean(0), rows[:n_train].std(0)
    standardised: Array = (rows - mean) / np.maximum(spread, 1e-6)
    return standardised


def _right(rows: Array, tags: Names, n_train: int, strength: float) -> tuple[NDArray[np.bool_], bool]:
    """Which words of the test have the tag that the probe says, and whether it was stopped early."""
    first, *others = set(tags[:n_train].tolist())
    if not others:  # a control task may draw one tag for all words
        return tags[n_train:] == first, False
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConvergenceWarning)
        learned = LogisticRegression(C=strength, max_iter=_MOST_STEPS, tol=1e-3).fit(rows[:n_train], tags[:n_train])
    return learned.predict(rows[n_train:]) == tags[n_train:], any(one.category is ConvergenceWarning for one in said)


def _of_sentences(right: NDArray[np.bool_], sizes: Sequence[int]) -> Estimate:
    starts = np.cumsum([0, *sizes[:-1]])
    return clustered_share(np.add.reduceat(right.astype(int), starts).tolist(), sizes)


def _baseline(train: Sequence[TaggedWords], test: Sequence[TaggedWords]) -> float:
    """The share that is right with each word's most frequent tag, and for new words the most frequent of all."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in train:
        for word, tag in zip(one.words, one.tags, strict=True):
            counts[word][tag] += 1
    (usual, _), *_ = Counter(tag for one in train for tag in one.tags).most_common(1)
    guesses = {word: of_word.most_common(1)[0][0] for word, of_word in counts.items()}
    rights = [guesses.get(word, usual) == tag for one in test for word, tag in zip(one.words, one.tags, strict=True)]
    return float(np.mean(rights))
