"""Sense disambiguation by the nearest neighbour: a word means what the sense nearest to its vector means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.lens.in_context import Array, Span, Tell, directions, silent, stream
from polyseme.tasks.intervals import Estimate, clustered_share
from polyseme.tasks.senses import Inventory, Lemma, Sense, SensedWords

FIRST = "first sense"  # the row of the baseline


@dataclass(frozen=True)
class WsdLayer:
    """How many words get a right sense at one layer, as shares: F1, of those asked for and of those answered."""

    layer: int | str
    f1: float
    low: float
    high: float
    precision: float
    recall: float
    seen: float  # the share that is right of words whose lemma was in what is learned from
    n: int


def wsd(
    pretrained: Pretrained, train: Sequence[SensedWords], test: Sequence[SensedWords],
    inventory: Inventory | None = None, tell: Tell = silent,
) -> list[WsdLayer]:  # fmt: skip
    """As in ELMo's paper: a sense's vector is the mean of its occurrences' in `train`; a lemma that has none there,
    or a word without a vector, gets the inventory's first sense, or without an inventory no answer. The last row is the
    first sense for all words.
    """
    asked = [(number, sense) for number, one in enumerate(test) for sense in one.senses]
    if not asked:
        raise Mistake("No word of the test is marked with a sense.")
    keys, means = _sense_means(pretrained, train, {sense.lemma for _, sense in asked}, tell)
    found = _test_vectors(pretrained, test, asked, tell)
    answers = [_nearest(rows, of_senses, asked, keys) for rows, of_senses in zip(found, means, strict=True)]
    fallback = [_first(sense.lemma, inventory) for _, sense in asked]
    layers: list[WsdLayer] = []
    for number, said in enumerate(answers):
        full = [one if one is not None else other for one, other in zip(said, fallback, strict=True)]
        layers.append(_scored(number, full, asked, keys))
    return [*layers, _scored(FIRST, fallback, asked, keys)] if inventory else layers


Keys = dict[Lemma, dict[str, int]]  # the row of each sense of a lemma


def _sense_means(
    pretrained: Pretrained, train: Sequence[SensedWords], lemmas: set[Lemma], tell: Tell
) -> tuple[Keys, list[Array]]:
    """Only of lemmas that are asked for: the others cost memory and change nothing."""
    keys: Keys = defaultdict(dict)
    spans, rows = [], []
    n_senses = 0
    for number, one in enumerate(train):
        for sense in one.senses:
            if sense.lemma not in lemmas:
                continue
            for key in sense.keys:
                if key not in keys[sense.lemma]:
                    keys[sense.lemma][key] = n_senses
                    n_senses += 1
                spans.append(Span(number, sense.start, sense.end))
                rows.append(keys[sense.lemma][key])
    of_span = np.array(rows, dtype=np.int64)
    sums = [np.zeros((n_senses, width), np.float32) for width in pretrained.encoder.widths]
    for some in stream(pretrained, [one.words for one in train], spans, tell):
        for layer, total in zip(some.layers, sums, strict=True):
            np.add.at(total, of_span[some.numbers], layer)
    return keys, [directions(total) for total in sums]  # the direction of a sum is that of the mean


def _test_vectors(
    pretrained: Pretrained, test: Sequence[SensedWords], asked: Sequence[tuple[int, Sense]], tell: Tell
) -> list[Array]:
    spans = [Span(number, sense.start, sense.end) for number, sense in asked]
    found = [np.zeros((len(spans), width), np.float32) for width in pretrained.encoder.widths]
    for some in stream(pretrained, [one.words for one in test], spans, tell):
        for layer, rows in zip(found, some.layers, strict=True):
            layer[some.numbers] = directions(rows)
    return found


def _nearest(rows: Array, senses: Array, asked: Sequence[tuple[int, Sense]], keys: Keys) -> list[str | None]:
    """The key nearest to each word among those of its lemma; None where it or all of them have no vector."""
    said: list[str | None] = []
    for row, (_, sense) in zip(rows, asked, strict=True):
        known = {key: place for key, place in keys.get(sense.lemma, {}).items() if senses[place].any()}
        if not known or not row.any():
            said.append(None)
            continue
        said.append(list(known)[int(np.argmax(senses[list(known.values())] @ row))])
    return said


def _first(lemma: Lemma, inventory: Inventory | None) -> str | None:
    return inventory[lemma][0] if inventory and lemma in inventory else None


def _scored(name: int | str, said: Sequence[str | None], asked: Sequence[tuple[int, Sense]], keys: Keys) -> WsdLayer:
    right = np.array([answer in sense.keys for answer, (_, sense) in zip(said, asked, strict=True)])
    answered = np.array([answer is not None for answer in said])
    seen = np.array([bool(keys.get(sense.lemma)) for _, sense in asked])
    precision, recall = int(right.sum()) / max(1, int(answered.sum())), float(right.mean())
    of_seen = float(right[seen].mean()) if seen.any() else float("nan")
    return WsdLayer(name, *_f1(right, answered, asked), precision, recall, of_seen, len(asked))


def _f1(right: np.ndarray, answered: np.ndarray, asked: Sequence[tuple[int, Sense]]) -> Estimate:
    """What is right by the mean of what is asked and what is answered; by sentences, whose words share their fate."""
    _, sentences = np.unique([number for number, _ in asked], return_inverse=True)
    sizes = (np.bincount(sentences) + np.bincount(sentences, answered)) / 2
    return clustered_share(np.bincount(sentences, right).tolist(), sizes.tolist())
