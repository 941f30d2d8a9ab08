"""What the page draws, as plain values: curves, layer weights, confusions, and wrong answers to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from polyseme.adapt.data import Data
from polyseme.comparison.measures import Measure, as_learned
from polyseme.comparison.plan import Plan, Way
from polyseme.comparison.results import Line, Results
from polyseme.comparison.table import Row
from polyseme.comparison.text import name
from polyseme.tasks.scores import confusion

_MOST_WRONG = 25  # answers to read, of one row
_MOST_LETTERS = 600  # of a text that is shown
_MOST_CLASSES = 60  # in a matrix that is drawn


def payload(
    task: str, measure: Measure, rows: Sequence[Row], test: Data, plan: Plan, results: Results
) -> dict[str, Any]:
    """All values, which are JSON's."""
    ways = plan.ways
    answers = {line["id"]: results.answers(line["id"]) for line in _first_seeds(rows, plan, results)}
    groups = [_group(ways, row, plan, results, measure, test, task, answers) for row in rows]
    return {
        "task": task, "score": measure.name.replace("_", " "), "least": measure.least,
        "ways": [{**asdict(way), "name": name(way), "title": str(way)} for way in ways], "groups": groups,
    }  # fmt: skip


def _group(
    ways: list[Way], row: Row, plan: Plan, results: Results, measure: Measure, test: Data, task: str,
    answers: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    lines = _lines(row, plan, results)
    said = answers[lines[0]["id"]]
    return {
        "way": ways.index(row.way), "labels": row.n_labels, "rank": row.rank, "score": row.score, "low": row.low,
        "high": row.high, "seeds": row.by_seed, "seconds": row.seconds, "encoding": row.encoding_seconds,
        "parameters": row.parameters, "memory": row.peak_bytes, "speed": row.words_per_second,
        "curves": [_curve(line, measure) for line in lines], "mix": _mix(lines),
        "confusion": _confusion(task, test, said["labels"]), "wrong": _wrong(task, test, said),
    }  # fmt: skip


def _first_seeds(rows: Sequence[Row], plan: Plan, results: Results) -> list[Line]:
    return [_lines(row, plan, results)[0] for row in rows]


def _lines(row: Row, plan: Plan, results: Results) -> list[Line]:
    cells = [cell for cell in plan.cells if (cell.way, cell.n_labels) == (row.way, row.n_labels)]
    return [results.lines[cell.id] for cell in cells if cell.seed in row.by_seed]


def _curve(line: Line, measure: Measure) -> dict[str, Any]:
    """What was held out is measured by the task's own scores; the first of them where the ranking one is not there."""
    points = line["curve"]
    chosen = measure.name if points and measure.name in points[0] else next(iter(line["scores"]))
    shown = [[point["epoch"], point["loss"], point.get(chosen)] for point in points]
    return {"seed": line["seed"], "points": shown, "best": line["held_out"].get("epoch")}


def _mix(lines: list[Line]) -> dict[str, Any] | None:
    mixes = [line["mix"] for line in lines if line["mix"]]
    if not mixes:
        return None
    columns = list(zip(*(mix["weights"] for mix in mixes), strict=True))
    return {
        "weights": [fmean(column) for column in columns], "low": [min(column) for column in columns],
        "high": [max(column) for column in columns], "gamma": fmean(mix["gamma"] for mix in mixes),
    }  # fmt: skip


def _confusion(task: str, test: Data, given: list[Any]) -> dict[str, Any] | None:
    """Of classes, or of the tags of words."""
    if task in ("regress", "span"):
        return None
    if task == "tag":
        wanted = [tag for tags in as_learned(test.labels) for tag in tags]
        given = [tag for tags in given for tag in tags]
    else:
        wanted, given = [str(label) for label in test.labels], [str(label) for label in given]
    names, matrix = confusion(wanted, given)
    return {"names": names, "counts": matrix.tolist()} if len(names) <= _MOST_CLASSES else None


def _wrong(task: str, test: Data, said: dict[str, Any]) -> dict[str, Any]:
    """The surest of the wrong answers first; for numbers the farthest."""
    given, chances, labels = said["labels"], said["chances"], list(test.labels)
    if task == "regress":
        errors = [abs(float(one) - float(other)) for one, other in zip(labels, given, strict=True)]
        places = sorted(range(len(errors)), key=lambda place: -errors[place])
    elif task == "tag":
        labels = as_learned(labels)
        places = [place for place, one in enumerate(labels) if list(one) != list(given[place])]
    elif task == "span":
        places = [place for place, spans in enumerate(labels) if list(given[place]) not in [list(one) for one in spans]]
    else:
        places = [place for place, one in enumerate(labels) if str(one) != str(given[place])]
        if chances:
            places.sort(key=lambda place: -chances[place])
    shown = [_example(task, test.inputs[place], labels[place], given[place]) for place in places[:_MOST_WRONG]]
    if chances:
        shown = [{**one, "chance": chances[place]} for one, place in zip(shown, places, strict=False)]
    return {"total": len(places), "of": len(labels), "shown": shown}


def _example(task: str, one: Any, wanted: Any, given: Any) -> dict[str, Any]:
    if task == "tag":
        return {"words": [list(three) for three in zip(_words(one), wanted, given, strict=True)]}
    if task == "span":
        question, context = one
        answers = list(dict.fromkeys(context[start:end] for start, end in wanted))
        texts = [question, _cut(context)]
        return {"texts": texts, "wanted": " / ".join(answers) or "no answer", "given": context[slice(*given)] or "none"}
    texts = [_cut(_string(part)) for part in (one if isinstance(one, tuple) else (one,))]
    shown = f"{given:.3g}" if isinstance(given, float) else str(given)
    return {"texts": texts, "wanted": str(wanted), "given": shown}


def _words(one: Any) -> list[str]:
    from polyseme.text.words import to_text

    return to_text(one).words if isinstance(one, str) else list(one)


def _string(one: Any) -> str:
    return one if isinstance(one, str) else " ".join(one)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + " …"
