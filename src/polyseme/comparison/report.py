"""The page about a comparison: one file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any

from polyseme.comparison.measures import Measure
from polyseme.comparison.payload import payload
from polyseme.comparison.plan import Plan
from polyseme.comparison.results import Results
from polyseme.comparison.subsets import Parts
from polyseme.comparison.table import Row
from polyseme.comparison.text import count, name, p, size, trouble

_SURE = 0.05  # the p from which a difference counts as one


def page(
    title: str, task: str, measure: Measure, rows: Sequence[Row], parts: Parts, plan: Plan, results: Results,
    said: Sequence[str],
) -> str:  # fmt: skip
    """The html: the table in it as it is, the pictures drawn by its script from the values at its end."""
    values = {
        "title": escape(title), "summary": _summary(rows, measure, parts, plan), "table": _table(rows, measure),
        "notes": "".join(f"<li>{escape(line)}</li>" for line in [*said, *_notes(parts, plan)]),
        "style": _piece("page.css"), "script": _piece("page.js"),
        "data": _inert(payload(task, measure, rows, parts.test, plan, results)),
    }  # fmt: skip
    html = _piece("page.html")
    for key, value in values.items():
        html = html.replace(f"<!--{key}-->", value)
    return html.encode("utf-8", "replace").decode()


def _piece(file: str) -> str:
    return files("polyseme.comparison").joinpath("page", file).read_text("utf-8")


def _inert(values: dict[str, Any]) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    plain = json.dumps(values, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    plain = plain.encode("utf-8", "replace").decode()  # half a surrogate pair crashes browsers
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _summary(rows: Sequence[Row], measure: Measure, parts: Parts, plan: Plan) -> str:
    if not rows:
        return "<p>Nothing has been fitted yet.</p>"
    best = rows[0]
    near = [row for row in rows[1:] if row.n_labels == best.n_labels and (row.p_best or 0) >= _SURE]
    others = f" {len(near)} of the others cannot be told from it." if near else ""
    score = escape(measure.name.replace("_", " "))
    return (
        f"<p class='lead'>With {best.n_labels:,} labels <strong>{escape(str(best.way))}</strong> is first: {score} "
        f"<strong>{best.score:.3f}</strong> <span class='dim'>({best.low:.3f} to {best.high:.3f})</span>.{others}</p>"
        f"<p class='dim'>{len(plan.cells):,} fits · {len(parts.test):,} test examples · "
        f"{len(parts.train):,} to learn from</p>"
    )


def _notes(parts: Parts, plan: Plan) -> list[str]:
    n_seeds = len({cell.seed for cell in plan.cells})
    seeds = "one seed: how much seeds differ is not in the intervals" if n_seeds == 1 else f"{n_seeds} seeds"
    return [
        f"Intervals are of 95 %, over {seeds} and {len(parts.test):,} test examples. p is that of a paired test, "
        "corrected for the number of rows (Holm).",
        "Seconds are those of one fit; a frozen encoder reads all texts once, which is given apart. Memory is the most "
        "that the whole process had in use during a fit. Words a second are read while predicting.",
    ]


def _table(rows: Sequence[Row], measure: Measure) -> str:
    """A body a label count."""
    scores = [number for row in rows for number in (row.low, row.high)] or [0.0, 1.0]
    low, high = min(scores), max(max(scores), min(scores) + 1e-9)
    bodies = []
    for n_labels, some in groupby(rows, key=lambda row: row.n_labels):
        heading = f"<tr class='group'><th colspan='11' scope='rowgroup'>{n_labels:,} labels</th></tr>"
        bodies.append(f"<tbody>{heading}{''.join(_row(row, low, high) for row in some)}</tbody>")
    score = escape(measure.name.replace("_", " "))
    head = "".join(
        f"<th scope='col'{_kind(place)}>{text}</th>"
        for place, text in enumerate(
            ["encoder", "layers", "tune", score, "95 % interval", "against best", "against static",
             "learned", "seconds", "memory", "words/s"], 1,
        )
    )  # fmt: skip
    return f"<table><thead><tr>{head}</tr></thead>{''.join(bodies)}</table>"


def _row(row: Row, low: float, high: float) -> str:
    def at(number: float) -> str:
        return f"{100 * (number - low) / (high - low):.1f}%"

    width = f"{100 * (row.high - row.low) / (high - low):.1f}%"
    bar = f"<span class='range' aria-hidden='true'><i style='left:{at(row.low)};width:{width}'></i>"
    bar += f"<b style='left:{at(row.score)}'></b></span>"
    wrong = f" <span class='bad'>{escape(trouble(row))}</span>" if trouble(row) else ""
    first = f"<th scope='row'><span class='rank'>{row.rank}</span>{escape(name(row.way))}{wrong}</th>"
    cells = [
        escape(str(row.way.layers)), escape(row.way.tune), f"<strong>{row.score:.3f}</strong>",
        f"{bar}<span class='ends'>{row.low:.3f} – {row.high:.3f}</span>", _against(row.p_best, row.rank == 1, "best"),
        _against(row.p_static, False, ""), count(row.parameters), _seconds(row), size(row.peak_bytes),
        count(row.words_per_second),
    ]  # fmt: skip
    body = "".join(f"<td{_kind(place)}>{cell}</td>" for place, cell in enumerate(cells, 2))
    return f"<tr{' class=best' if row.rank == 1 else ''}>{first}{body}</tr>"


def _seconds(row: Row) -> str:
    once = "" if row.encoding_seconds is None else f" <span class='once'>+ {row.encoding_seconds:.1f} once</span>"
    return ("–" if row.seconds is None else f"{row.seconds:.1f}") + once


def _against(value: float | None, is_it: bool, word: str) -> str:
    if is_it:
        return f"<span class='sure'>{word}</span>"
    sure = value is not None and value < _SURE
    return f"<span class='{'sure' if sure else 'dim'}'>{p(value)}</span>"


def _kind(place: int) -> str:
    """Numbers stand to the right."""
    return " class='number'" if place == 4 or place >= 8 else ""
