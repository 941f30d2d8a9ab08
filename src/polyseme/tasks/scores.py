"""How right a model's answers are, in one number: each score takes what was wanted and what was given."""

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import Mistake

Labels: TypeAlias = "Sequence[Any] | NDArray[Any]"  # classes: strings or whole numbers
Numbers: TypeAlias = "Sequence[float] | NDArray[Any]"

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def accuracy(wanted: Labels, given: Labels) -> float:
    """The share of labels that are right.

    >>> accuracy(["yes", "no", "no", "no"], ["yes", "no", "yes", "no"])
    0.75
    """
    _check(wanted, given)
    return sum(bool(one == other) for one, other in zip(wanted, given, strict=True)) / len(wanted)


def macro_f1(wanted: Labels, given: Labels) -> float:
    """The mean of the classes' F1, each class weighing the same; a class that is never right has 0."""
    _, matrix = confusion(wanted, given)
    return float(np.mean(2 * matrix.diagonal() / (matrix.sum(0) + matrix.sum(1))))


def matthews(wanted: Labels, given: Labels) -> float:
    """Matthews' correlation, for two classes or more (Gorodkin 2004); 0 where either side has one class only."""
    _, matrix = confusion(wanted, given)
    n_wanted, n_given, n = matrix.sum(1).astype(float), matrix.sum(0).astype(float), float(matrix.sum())
    spread = math.sqrt(n * n - n_wanted @ n_wanted) * math.sqrt(n * n - n_given @ n_given)
    return float(n * matrix.trace() - n_wanted @ n_given) / spread if spread else 0.0


def pearson(wanted: Numbers, given: Numbers) -> float:
    """The correlation of two rows of numbers; 0 where either is constant, since such answers tell nothing."""
    _check(wanted, given)
    return float(np.clip(_unit(_numbers(wanted, "wanted")) @ _unit(_numbers(given, "given")), -1.0, 1.0))


def spearman(wanted: Numbers, given: Numbers) -> float:
    """The correlation of the ranks; equal numbers share the mean of theirs."""
    _check(wanted, given)
    return pearson(ranks(_numbers(wanted, "wanted")), ranks(_numbers(given, "given")))


def exact_match(wanted: Sequence[Sequence[str]], given: Sequence[str]) -> float:
    """The share of questions answered as one of their answers says, but for case, punctuation, articles and spaces.

    As SQuAD's scorer has it, but as a share, not a percentage. A question without answers wants "".

    >>> exact_match([["The Eiffel Tower", "the tower"], []], ["Eiffel tower!", ""])
    1.0
    """
    _check(wanted, given)
    rights = [max(one == _normal(answer) for one in _normals(all_of)) for all_of, answer in _each(wanted, given)]
    return sum(rights) / len(rights)


def answer_f1(wanted: Sequence[Sequence[str]], given: Sequence[str]) -> float:
    """The mean over questions of the F1 of an answer's words, against the wanted answer that is nearest.

    >>> round(answer_f1([["the red house"]], ["a house"]), 3)
    0.667
    """
    _check(wanted, given)
    found = [max(_word_f1(one, _normal(answer)) for one in _normals(all_of)) for all_of, answer in _each(wanted, given)]
    return sum(found) / len(found)


def confusion(wanted: Labels, given: Labels) -> tuple[list[Any], NDArray[np.int64]]:
    """All labels in order, and how often each (rows) was given as each (columns)."""
    _check(wanted, given)
    labels = _sorted(set(wanted) | set(given))
    numbers = {label: number for number, label in enumerate(labels)}
    cells = [numbers[one] * len(labels) + numbers[other] for one, other in zip(wanted, given, strict=True)]
    counts = np.bincount(cells, minlength=len(labels) ** 2)
    return labels, counts.reshape(len(labels), len(labels)).astype(np.int64)


def _check(wanted: Labels, given: Labels) -> None:
    if isinstance(given, str) or isinstance(wanted, str):
        raise Mistake("A score takes lists of answers; one string was given. Write [answer].")
    if len(wanted) != len(given):
        raise Mistake(f"{len(wanted)} answers are wanted, {len(given)} were given. Give one for each.")
    if not len(wanted):
        raise Mistake("There is nothing to score. Wanted: one answer or more.")


def _sorted(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # words and numbers
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def _numbers(values: Numbers, side: str) -> NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if len(wrong := np.flatnonzero(~np.isfinite(array))):
        raise Mistake(f"Number {wrong[0]} of what was {side} is {array[wrong[0]]}. Wanted: finite numbers.")
    return array


def _unit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0 and length 1; all 0 for a constant, whose mean may be off by a rounding."""
    if values.min() == values.max():
        return np.zeros_like(values)
    centred: NDArray[np.float64] = values / np.abs(values).max()  # so that no square is too large or too small
    centred -= centred.mean()
    length = math.sqrt(centred @ centred)
    return centred / length if length else centred


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From 1; equal numbers share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared: NDArray[np.float64] = counts.cumsum() - (counts - 1) / 2
    return shared[places]


def _each(wanted: Sequence[Sequence[str]], given: Sequence[str]) -> list[tuple[Sequence[str], str]]:
    for place, answers in enumerate(wanted):
        if isinstance(answers, str):
            raise Mistake(f"Question {place} wants {answers!r}; wanted a list of answers. Write [{answers!r}].")
    return list(zip(wanted, given, strict=True))


def _normals(answers: Sequence[str]) -> list[str]:
    """What answers come to; one of which nothing is left is no answer."""
    return [normal for answer in answers if (normal := _normal(answer))] or [""]


def _normal(answer: str) -> str:
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_NO_PUNCTUATION)).split())


def _word_f1(wanted: str, given: str) -> float:
    one, other = wanted.split(), given.split()
    if not one or not other:
        return float(one == other)
    n_same = (Counter(one) & Counter(other)).total()
    return 2 * n_same / (len(one) + len(other))
