"""Which examples are learned from, which choose the epoch, and which are measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyseme.adapt.data import Data
from polyseme.errors import Mistake
from polyseme.text.order import seed_for, shuffled

_TEST_PART = 5  # one in so many, where no test examples are given
_LEAST = 10  # examples that can be parted


@dataclass(frozen=True)
class Parts:
    """The three parts, the same for every encoder and every seed; and what there is to say of them."""

    train: Data
    valid: Data | None
    test: Data
    said: tuple[str, ...] = ()


def parted(data: Data, test: Data | None, valid: Data | None) -> Parts:
    """A fifth is split off for the test where none is given.

    Without `valid` each fit holds out a part of its own labels to measure its epochs on, as whoever has no more of
    them would have to: a curve over label counts would flatter small ones otherwise.
    """
    said = []
    if test is None:
        data, test = _without_test(data)
        said.append(
            f"No --test was given: {len(test):,} examples are kept for it, {len(data):,} are left to learn from."
        )
    if valid is not None:
        said.append(
            f"{len(valid):,} labelled examples more measure the epochs of every fit, however few it learns from."
        )
    return Parts(data, valid, test, tuple(said))


def nested(labels: Sequence[Any], seed: int, classes: bool) -> list[int]:
    """An order of all examples of which any beginning is a fair sample, so that fewer labels are part of more.

    With `classes` each beginning has them in the proportions of the whole, and every class at least once as soon as
    there is room.
    """
    order: list[int] = shuffled(np.arange(len(labels)), len(labels), seed_for(seed, 7), 0).tolist()
    if not classes:
        return order
    members: dict[str, list[int]] = {}
    for place in order:
        members.setdefault(str(labels[place]), []).append(place)
    keys = {}
    for found in members.values():
        for rank, place in enumerate(found):
            keys[place] = (rank > 0, (rank + 0.5) / len(found) if rank else -len(found))
    return sorted(order, key=keys.__getitem__)


def subset(data: Data, n_labels: int, seed: int, classes: bool) -> Data:
    """So many examples, chosen by the seed and kept in the order of the file."""
    return data.take(sorted(nested(data.labels, seed, classes)[:n_labels]))


def _without_test(data: Data) -> tuple[Data, Data]:
    n_test = len(data) // _TEST_PART
    if len(data) < _LEAST:
        raise Mistake(f"There are {len(data)} examples; to part some for a test, {_LEAST} are the least. Give --test.")
    order = shuffled(np.arange(len(data)), len(data), seed_for(0, 5), 0).tolist()
    return data.take(sorted(order[n_test:])), data.take(sorted(order[:n_test]))
