"""How right answers are, class by class: what scores.py says in one number, taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyseme.tasks.scores import Labels, confusion
from polyseme.tasks.tags import spans

_HEAD = ["", "precision", "recall", "F1", "support"]
_MOST_COLUMNS = 10  # of a matrix that a terminal is to show
_MOST_MIXED_UP = 10


class ClassScore(NamedTuple):
    """How one class fares. What would be divided by 0 is 0."""

    label: Any
    precision: float  # of those given this label, how many are right
    recall: float  # of those that want this label, how many are found
    f1: float
    support: int  # how many want this label


@dataclass(frozen=True)
class Report:
    """Which labels were given where which were wanted."""

    labels: tuple[Any, ...]
    matrix: NDArray[np.int64]  # (wanted, given) counts

    @property
    def classes(self) -> tuple[ClassScore, ...]:
        right, n_wanted, n_given = self.matrix.diagonal(), self.matrix.sum(1), self.matrix.sum(0)
        columns = (right / np.maximum(n_given, 1), right / np.maximum(n_wanted, 1), 2 * right / (n_wanted + n_given))
        scores = zip(self.labels, *(column.tolist() for column in columns), n_wanted.tolist(), strict=True)
        return tuple(ClassScore(*score) for score in scores)

    @property
    def accuracy(self) -> float:
        return float(self.matrix.trace() / self.matrix.sum())

    @property
    def macro_f1(self) -> float:
        return sum(score.f1 for score in self.classes) / len(self.classes)

    def text(self) -> str:
        """For a terminal: a line a class, then the matrix, or the labels most often mixed up where there are many."""
        rows = [*map(_row, self.classes), ["macro F1", "", "", f"{self.macro_f1:.3f}", ""]]
        rows += [["accuracy", "", "", f"{self.accuracy:.3f}", f"{self.matrix.sum():,}"]]
        tail = self._matrix() if len(self.labels) <= _MOST_COLUMNS else self._mixed_up()
        return f"{_aligned([_HEAD, *rows])}\n\n{tail}"

    def _matrix(self) -> str:
        rows = [["wanted \\ given", *map(str, self.labels)]]
        for label, counts in zip(self.labels, self.matrix.tolist(), strict=True):
            rows.append([str(label), *(f"{count:,}" for count in counts)])
        return _aligned(rows)

    def _mixed_up(self) -> str:
        wrong = self.matrix - np.diag(self.matrix.diagonal())
        cells = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_MIXED_UP]
        rows = [["wanted", "given", "times"]]
        for one, other in zip(*np.unravel_index(cells, wrong.shape), strict=True):
            if count := wrong[one, other]:
                rows.append([str(self.labels[one]), str(self.labels[other]), f"{count:,}"])
        return _aligned(rows)


@dataclass(frozen=True)
class SpanReport:
    """How right spans are, type by type, and all together."""

    classes: tuple[ClassScore, ...]
    all: ClassScore

    def text(self) -> str:
        """For a terminal: a line a type."""
        return _aligned([_HEAD, *map(_row, (*self.classes, self.all))])


def report(wanted: Labels, given: Labels) -> Report:
    """
    >>> print(report(["cat", "cat", "dog"], ["cat", "dog", "dog"]).text())
              precision  recall     F1  support
    cat           1.000   0.500  0.667        2
    dog           0.500   1.000  0.667        1
    macro F1                     0.667
    accuracy                     0.667        3
    <BLANKLINE>
    wanted \\ given  cat  dog
    cat               1    1
    dog               0    1
    """
    labels, matrix = confusion(wanted, given)
    return Report(tuple(labels), matrix)


def span_report(wanted: Iterable[Sequence[str]], given: Iterable[Sequence[str]]) -> SpanReport:
    """
    >>> print(span_report([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "B-PER"]]).text())
               precision  recall     F1  support
    LOC            0.000   0.000  0.000        1
    PER            0.500   1.000  0.667        1
    all spans      0.500   0.500  0.500        2
    """
    n_wanted, n_given, n_right = Counter[str](), Counter[str](), Counter[str]()
    for one, other in zip(wanted, given, strict=True):
        wanted_spans, given_spans = set(spans(one)), set(spans(other))
        for counts, some in ((n_wanted, wanted_spans), (n_given, given_spans), (n_right, wanted_spans & given_spans)):
            counts.update(span.type for span in some)
    types = sorted(n_wanted | n_given)
    each = tuple(_score(kind, n_wanted[kind], n_given[kind], n_right[kind]) for kind in types)
    return SpanReport(each, _score("all spans", n_wanted.total(), n_given.total(), n_right.total()))


def _score(label: str, n_wanted: int, n_given: int, n_right: int) -> ClassScore:
    f1 = 2 * n_right / max(1, n_wanted + n_given)
    return ClassScore(label, n_right / max(1, n_given), n_right / max(1, n_wanted), f1, n_wanted)


def _row(score: ClassScore) -> list[str]:
    label, *three, n = score
    return [str(label), *(f"{number:.3f}" for number in three), f"{n:,}"]


def _aligned(rows: list[list[str]]) -> str:
    """Columns of equal width, the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
