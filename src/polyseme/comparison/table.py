"""The rows of a comparison, ranked, with how sure each score is and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median
from typing import Any

import numpy as np

from polyseme.adapt.data import Data
from polyseme.comparison.measures import Measure
from polyseme.comparison.plan import Plan, Way
from polyseme.comparison.results import Line, Results
from polyseme.comparison.statistics import Numbers, draws, enough, holm, interval, p_value, resample
from polyseme.tasks.intervals import share


@dataclass(frozen=True)
class Row:
    """One way of transfer with one number of labels, over all its seeds."""

    way: Way
    n_labels: int
    rank: int  # among those with as many labels
    score: float  # the mean over seeds
    low: float  # of the 95 % interval over seeds and examples
    high: float
    by_seed: dict[int, float]
    others: dict[str, float]  # the task's other scores
    p_best: float | None  # that it is no worse than the best row, corrected for the number of rows; None for the best
    p_static: float | None  # that it is no other than the static baseline; None for that one, and where there is none
    parameters: int  # that learned
    seconds: float | None  # of a fit, without reading the texts with a frozen encoder
    encoding_seconds: float | None  # of that reading, done once for all seeds and label counts; None where it was kept
    peak_bytes: int | None
    words_per_second: float | None
    n_failed: int = 0
    n_one_answer: int = 0  # seeds whose model says the same of everything

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        found = asdict(self)
        return {**found.pop("way"), **found}


def rows(plan: Plan, results: Results, measure: Measure, test: Data) -> list[Row]:
    """Most labels first, and among as many labels the best first."""
    found = []
    for n_labels in sorted({cell.n_labels for cell in plan.cells}, reverse=True):
        found += _ranked(plan, results, measure, test, n_labels)
    return found


def means(plan: Plan, lines: dict[str, Line], score: str) -> list[tuple[Way, int, list[float]]]:
    """What is known while it runs: each row's scores so far, without intervals."""
    found: dict[tuple[Way, int], list[float]] = {}
    for cell in plan.cells:
        line = lines.get(cell.id)
        if line is not None and "error" not in line:
            found.setdefault((cell.way, cell.n_labels), []).append(line["scores"][score])
    known = [(way, n_labels, values) for (way, n_labels), values in found.items()]
    return sorted(known, key=lambda one: (-one[1], -fmean(one[2])))


def remarks(plan: Plan, lines: dict[str, Line]) -> list[str]:
    """What there is to know of single fits: that one came to nothing, or had to begin again."""
    found = []
    for cell in plan.cells:
        line = lines.get(cell.id, {})
        of = f"{cell.way}, {cell.n_labels:,} labels, seed {cell.seed}"
        found += [f"{of} failed: {line['error']}"] if "error" in line else []
        found += [f"{of}: {said}" for said in line.get("said", ())]
    return found


@dataclass(frozen=True)
class _Group:
    """The fits of one way and label count."""

    way: Way
    lines: list[Line]
    of_way: list[Line]  # with any number of labels: what is measured once for all of them
    n_failed: int
    n_one_answer: int
    points: Numbers  # (seeds,)
    resampled: Numbers  # (seeds, resamples)

    @property
    def seeds(self) -> list[int]:
        return [line["seed"] for line in self.lines]

    def drawn(self) -> Numbers:
        return draws(self.points, self.resampled)

    def against(self, other: _Group) -> Numbers:
        """Draws of the difference, seed by seed: both learned from the same labels."""
        both = [seed for seed in self.seeds if seed in other.seeds]
        mine, theirs = ([group.seeds.index(seed) for seed in both] for group in (self, other))
        return draws(self.points[mine] - other.points[theirs], self.resampled[mine] - other.resampled[theirs])


def _ranked(plan: Plan, results: Results, measure: Measure, test: Data, n_labels: int) -> list[Row]:
    groups = sorted(_groups(plan, results, measure, test, n_labels), key=lambda group: -float(group.points.mean()))
    static = _static(plan, groups)
    p_best = _corrected([None if group is groups[0] else _p(group, groups[0]) for group in groups])
    p_static = _corrected([None if static in (None, group) else _p(group, static) for group in groups])
    made = [_row(group, measure, n_labels, len(test)) for group in groups]
    return [
        replace(row, rank=rank, p_best=best, p_static=baseline)
        for rank, (row, best, baseline) in enumerate(zip(made, p_best, p_static, strict=True), 1)
    ]


def _groups(plan: Plan, results: Results, measure: Measure, test: Data, n_labels: int) -> list[_Group]:
    """All models of as many labels are resampled together: the same draws for each."""
    waiting: list[tuple[Way, list[Line], int]] = []
    for way in plan.ways:
        cells = [cell for cell in plan.cells if (cell.way, cell.n_labels) == (way, n_labels)]
        good = [results.lines[cell.id] for cell in cells if results.has(cell.id)]
        if good:
            waiting.append((way, good, sum("error" in results.lines.get(cell.id, ()) for cell in cells)))
    if not waiting:
        return []
    models = [line for _, lines, _ in waiting for line in lines]
    answers = {line["id"]: results.answers(line["id"])["labels"] for line in models}
    sums = np.stack([measure.sums(test, answers[line["id"]]) for line in models], 1)
    points, resampled = measure.combine(sums.sum(0)), resample(sums, measure.combine, enough(len(waiting)))
    found, first = [], 0
    for way, lines, n_failed in waiting:
        part = slice(first, first + len(lines))
        n_one = sum(_is_one(answers[line["id"]]) for line in lines)
        found.append(_Group(way, lines, _of_way(plan, results, way), n_failed, n_one, points[part], resampled[part]))
        first += len(lines)
    return found


def _is_one(answers: Sequence[Any]) -> bool:
    """Whether one class, or one tag, is said of everything."""
    if not all(isinstance(answer, str | list) for answer in answers):
        return False  # numbers and spans may well be alike
    parts = [answer if isinstance(answer, list) else [answer] for answer in answers]
    return len({label for part in parts for label in part if isinstance(label, str)}) == 1


def _of_way(plan: Plan, results: Results, way: Way) -> list[Line]:
    return [results.lines[cell.id] for cell in plan.cells if cell.way == way and results.has(cell.id)]


def _static(plan: Plan, groups: list[_Group]) -> _Group | None:
    """The baseline: the first static encoder that was given, frozen where it was asked for so; not the best of many."""
    found = [group for way in plan.ways for group in groups if group.way == way and way.family == "static"]
    found = [group for group in found if not group.way.scratch]
    return next((group for group in found if group.way.tune == "frozen"), found[0] if found else None)


def _p(group: _Group, other: _Group | None) -> float | None:
    if other is None or not set(group.seeds) & set(other.seeds):
        return None
    return p_value(group.against(other))


def _corrected(values: Sequence[float | None]) -> list[float | None]:
    known = [value for value in values if value is not None]
    corrected = iter(holm(known))
    return [None if value is None else next(corrected) for value in values]


def _row(group: _Group, measure: Measure, n_labels: int, n_examples: int) -> Row:
    low, high = _interval(group, measure, n_examples)
    lines = group.lines
    frozen = group.way.tune == "frozen"
    costs, of_way = ([line["cost"] for line in some] for some in (lines, group.of_way))
    whole = [cost for cost in costs if not cost["resumed"]]  # of a fit that was killed only the rest was timed
    return Row(
        way=group.way, n_labels=n_labels, rank=0, score=float(group.points.mean()), low=low, high=high,
        by_seed=dict(zip(group.seeds, group.points.tolist(), strict=True)),
        others={name: fmean(line["scores"][name] for line in lines) for name in lines[0]["scores"]
                if name != measure.name},
        p_best=None, p_static=None, parameters=max(line["parameters"] for line in lines),
        seconds=_over(median, [cost["seconds"] for cost in whole]),
        encoding_seconds=_over(max, [cost["encoding_seconds"] for cost in of_way]),
        peak_bytes=_over(max, [cost["peak_bytes"] for cost in costs]),
        words_per_second=_over(median, [cost["words_per_second"] for cost in (of_way if frozen else costs)]),
        n_failed=group.n_failed, n_one_answer=group.n_one_answer,
    )  # fmt: skip


def _interval(group: _Group, measure: Measure, n_examples: int) -> tuple[float, float]:
    """Of 95 %, around the score. Where all is right, or nothing, so it is in every resample; then Wilson's says how far
    that may be off."""
    score, ends = float(group.points.mean()), list(interval(group.drawn()))
    if score in (0.0, 1.0):
        ends += share(score * n_examples, n_examples)[1:]
    return max(min(score, *ends), measure.least), min(max(score, *ends), 1.0)


def _over(how: Any, values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    return how(known) if known else None
