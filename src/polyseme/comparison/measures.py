"""Scores as sums over examples, so that a score of a thousand resampled test sets is one matrix product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyseme.adapt.data import Data
from polyseme.comparison.statistics import Combine, Numbers
from polyseme.errors import Mistake, did_you_mean, listed
from polyseme.tasks import scores
from polyseme.tasks.tags import scheme_of, spans, to_iob2

Given = Sequence[Any]  # a model's answers, one an example


@dataclass(frozen=True)
class Measure:
    """A score taken apart: what each example adds to some sums, and what the sums make."""

    name: str
    sums: Callable[[Data, Given], Numbers]  # (examples, k)
    combine: Combine  # (…, k) to (…,)
    least: float = 0.0

    def score(self, data: Data, given: Given) -> float:
        return float(self.combine(self.sums(data, given).sum(0)))


def measures(task: str, labels: Sequence[Any]) -> dict[str, Measure]:
    """The scores of a task by name, the most telling one first; `labels` are all that may be wanted."""
    match task:
        case "classify" | "pair":
            names = sorted({str(label) for label in labels})
            found = [_mean_of("accuracy", _rights), _macro_f1(names), _matthews(names)]
        case "regress":
            found = [
                Measure("spearman", _rank_sums, _correlation, -1.0),
                Measure("pearson", _pair_sums, _correlation, -1.0),
            ]
        case "tag":
            accuracy = Measure("accuracy", _right_words, lambda sums: _ratio(sums[..., 0], sums[..., 1]))
            found = [Measure("span_f1", _span_counts, _f1), accuracy] if scheme_of(labels) is not None else [accuracy]
        case _:
            found = [_mean_of("f1", _answer(scores.answer_f1)), _mean_of("exact_match", _answer(scores.exact_match))]
    return {measure.name: measure for measure in found}


def chosen(task: str, labels: Sequence[Any], name: str | None) -> Measure:
    """The score that rows are ranked by."""
    known = measures(task, labels)
    if name is not None and name not in known:
        raise Mistake(f"There is no score {name!r} for {task}; there are {listed(known)}.{did_you_mean(name, known)}")
    return known[name] if name is not None else next(iter(known.values()))


def as_learned(labels: Sequence[Any]) -> list[Any]:
    """Tags of spans are learned and given as IOB2."""
    return [to_iob2(tags) for tags in labels] if scheme_of(labels) is not None else list(labels)


def _mean_of(name: str, values: Callable[[Data, Given], Numbers]) -> Measure:
    def sums(data: Data, given: Given) -> Numbers:
        found = values(data, given)
        return np.stack([found, np.ones_like(found)], 1)

    return Measure(name, sums, lambda sums: sums[..., 0] / sums[..., 1])


def _rights(data: Data, given: Given) -> Numbers:
    return np.array([str(one) == str(other) for one, other in zip(data.labels, given, strict=True)], np.float64)


def _macro_f1(names: list[str]) -> Measure:
    def combine(sums: Numbers) -> Numbers:
        right, wanted, given = np.split(sums, 3, -1)
        there = wanted + given > 0  # a class that is neither wanted nor given does not count
        f1 = np.divide(2 * right, wanted + given, out=np.zeros_like(right), where=there)
        return np.asarray(f1.sum(-1) / there.sum(-1), np.float64)

    def sums(data: Data, given: Given) -> Numbers:
        wanted_is, given_is = _one_hot(data.labels, names), _one_hot(given, names)
        return np.concatenate([wanted_is * given_is, wanted_is, given_is], 1)

    return Measure("macro_f1", sums, combine)


def _matthews(names: list[str]) -> Measure:
    def combine(sums: Numbers) -> Numbers:
        n, right, rest = sums[..., 0], sums[..., 1], sums[..., 2:]
        wanted, given = np.split(rest, 2, -1)
        spread = np.sqrt((n**2 - (wanted**2).sum(-1)) * (n**2 - (given**2).sum(-1)))
        return _ratio(n * right - (wanted * given).sum(-1), spread)

    def sums(data: Data, given: Given) -> Numbers:
        wanted_is, given_is = _one_hot(data.labels, names), _one_hot(given, names)
        right = (wanted_is * given_is).sum(1, keepdims=True)
        return np.concatenate([np.ones_like(right), right, wanted_is, given_is], 1)

    return Measure("matthews", sums, combine, -1.0)


def _one_hot(labels: Given, names: list[str]) -> Numbers:
    numbers = {name: number for number, name in enumerate(names)}
    return np.asarray(np.eye(len(names))[[numbers[str(label)] for label in labels]], np.float64)


def _pair_sums(data: Data, given: Given) -> Numbers:
    return _products(np.array(data.labels, np.float64), np.array(given, np.float64))


def _rank_sums(data: Data, given: Given) -> Numbers:
    """Ranks among all examples stand for those among the resampled ones: their correlation is the same in the limit."""
    return _products(scores.ranks(np.array(data.labels, np.float64)), scores.ranks(np.array(given, np.float64)))


def _products(one: Numbers, other: Numbers) -> Numbers:
    one, other = (values - values.mean() for values in (one, other))
    one, other = (values / (np.abs(values).max() or 1.0) for values in (one, other))
    return np.stack([np.ones_like(one), one, other, one * one, other * other, one * other], 1)


def _correlation(sums: Numbers) -> Numbers:
    n, one, other, one_one, other_other, both = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(np.maximum(0.0, n * one_one - one**2) * np.maximum(0.0, n * other_other - other**2))
    return _ratio(n * both - one * other, spread)


def _right_words(data: Data, given: Given) -> Numbers:
    pairs = zip(as_learned(data.labels), given, strict=True)
    found = [(sum(a == b for a, b in zip(wanted, said, strict=True)), len(wanted)) for wanted, said in pairs]
    return np.array(found, np.float64)


def _span_counts(data: Data, given: Given) -> Numbers:
    """Right, wanted and given spans of each sentence."""
    found = []
    for wanted, said in zip(data.labels, given, strict=True):
        one, other = set(spans(wanted)), set(spans(said))
        found.append((len(one & other), len(one), len(other)))
    return np.array(found, np.float64)


def _f1(sums: Numbers) -> Numbers:
    return _ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def _answer(score: Callable[[Any, Any], float]) -> Callable[[Data, Given], Numbers]:
    def values(data: Data, given: Given) -> Numbers:
        found = []
        for (_, context), wanted, (start, end) in zip(data.inputs, data.labels, given, strict=True):
            found.append(score([[context[first:last] for first, last in wanted]], [context[start:end]]))
        return np.array(found, np.float64)

    return values


def _ratio(top: Numbers, bottom: Numbers) -> Numbers:
    """0 where it would be divided by 0."""
    top, bottom = np.asarray(top, np.float64), np.asarray(bottom, np.float64)
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
