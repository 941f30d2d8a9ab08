"""Pictures for files, by matplotlib: calm, legible, on white."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polyseme.errors import MissingExtra, Mistake
from polyseme.files import new_file
from polyseme.lens.in_context import Array
from polyseme.lens.views import View

COLOURS = ("#3b6ea5", "#d1783a", "#4f9a62", "#a8506b", "#7a6bb0", "#8c8c3e", "#5aa0a8", "#6b6b6b")
INK, GRID = "#333333", "#dddddd"
KINDS = (".png", ".svg", ".pdf")
_MOST_ACROSS = 8  # matrices in a row


def check_place(path: Path | None, force: bool = False) -> None:
    """Refuse what could not be written before the work, not after it."""
    if path is None:
        return
    if path.exists() and not force:
        raise Mistake(f"{path} is there already. Choose another place, or overwrite it with --force.")
    if path.suffix.lower() not in KINDS:
        raise Mistake(f"{path.name} is no kind of picture that is known. Use {', '.join(KINDS)}.")
    _pyplot()


def save(figure: Any, path: Path, force: bool = False) -> None:
    with new_file(path, force) as temporary:
        figure.savefig(temporary, dpi=150, facecolor="white", bbox_inches="tight", format=path.suffix[1:].lower())


def senses(word: str, views: Sequence[View]) -> Any:
    """A matrix of cosines a layer for each encoder; for those with a corpus a map of the word's occurrences."""
    mentions = views[0].asked.mentions
    maps = [view for view in views if view.corpus is not None]
    rows = [(view, start) for view in views for start in range(0, len(view.asked.layers), _MOST_ACROSS)]
    across = min(_MOST_ACROSS, max(len(view.asked.layers) for view in views))
    width = max(1.55 * across + 0.8, 7.5)
    names = _sentences(mentions, int(width * 13))
    heights = [*[1.9] * len(rows), *[4.6] * len(maps), 0.2 * names.count("\n") + 0.35]
    figure = _pyplot().Figure(figsize=(width, sum(heights) + 0.5), layout="constrained")
    figure.suptitle(f"“{word}” in {len(mentions)} contexts", color=INK, fontsize=13)
    parts = np.atleast_1d(figure.subfigures(len(heights), 1, height_ratios=heights))
    low = min(0.9, *(float(matrix.min()) for view in views for matrix in view.asked.cosines()))
    for part, (view, start) in zip(parts, rows, strict=False):
        _matrices(part, view, start, across, low)
    for part, view in zip(parts[len(rows) :], maps, strict=False):
        _map(part, view)
    parts[-1].text(0.01, 0.98, names, va="top", fontsize=8.5, color=INK, linespacing=1.35)
    return figure


def curves(rows: Sequence[Mapping[str, Any]], value: str, title: str, across: str = "layer", by: str = "model") -> Any:
    """A line for each model, with its interval where there is one."""
    figure = _pyplot().Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    names = list(dict.fromkeys(str(row[by]) for row in rows))
    for name, colour in zip(names, COLOURS * len(names), strict=False):
        own = [row for row in rows if str(row[by]) == name and isinstance(row[across], int | float)]
        places, values = [row[across] for row in own], [row[value] for row in own]
        axes.plot(places, values, marker="o", markersize=4, color=colour, label=name)
        if own and "low" in own[0]:
            axes.fill_between(
                places, [row["low"] for row in own], [row["high"] for row in own], color=colour, alpha=0.15, lw=0
            )
        _flat_lines(axes, [row for row in rows if str(row[by]) == name and isinstance(row[across], str)], value, across)
    _calm(axes, across.replace("_", " "), value.replace("_", " "), title)
    if len(names) > 1 or axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
    return figure


def bars(rows: Sequence[Mapping[str, Any]], name: str, value: str, title: str) -> Any:
    """A bar for each row, with its interval where there is one."""
    figure = _pyplot().Figure(figsize=(6.4, 0.34 * len(rows) + 1.4), layout="constrained")
    axes = figure.subplots()
    places, values = np.arange(len(rows)), np.array([row[value] for row in rows], float)
    axes.barh(places, values, color=COLOURS[0], height=0.62, alpha=0.85)
    if "low" in rows[0]:
        errors = np.abs(np.array([[row["low"], row["high"]] for row in rows], float).T - values)
        axes.errorbar(values, places, xerr=errors, fmt="none", ecolor=INK, elinewidth=1)
    axes.set_yticks(places, [str(row[name]) for row in rows])
    axes.invert_yaxis()
    _calm(axes, value.replace("_", " "), "", title)
    return figure


def heat(matrix: Array, title: str, rows: str, columns: str) -> Any:
    """A matrix of numbers from 0 to 1."""
    side = max(3.4, 0.45 * max(matrix.shape) + 1.6)
    figure = _pyplot().Figure(figsize=(side + 0.6, side), layout="constrained")
    axes = figure.subplots()
    _cells(axes, matrix, 0.0, 8)
    axes.set_xticks(range(matrix.shape[1]))
    axes.set_yticks(range(matrix.shape[0]))
    axes.set_title(title, color=INK, fontsize=11)
    axes.set_xlabel(columns, color=INK)
    axes.set_ylabel(rows, color=INK)
    return figure


def panels(rows: Sequence[Mapping[str, Any]], across: str, values: Sequence[str], title: str) -> Any:
    """One curve a value, side by side over the same axis."""
    figure = _pyplot().Figure(figsize=(3.6 * len(values) + 0.4, 3.5), layout="constrained")
    figure.suptitle(title, color=INK, fontsize=12)
    for number, (axes, value) in enumerate(zip(np.atleast_1d(figure.subplots(1, len(values))), values, strict=True)):
        axes.plot([row[across] for row in rows], [row[value] for row in rows], marker="o", color=COLOURS[number])
        _calm(axes, across.replace("_", " "), value.replace("_", " "), "")
    return figure


def _matrices(part: Any, view: View, start: int, across: int, low: float) -> None:
    cosines = view.asked.cosines()[start : start + across]
    part.suptitle(f"{view.name} ({view.family})" if start == 0 else "", x=0.01, ha="left", fontsize=10, color=INK)
    size = 6.5 if len(view.asked.mentions) <= 6 else 0
    for number, axes in enumerate(part.subplots(1, across)):
        if number >= len(cosines):
            axes.set_axis_off()
            continue
        _cells(axes, cosines[number], low, size)
        axes.set_title(f"layer {start + number}", fontsize=8.5, color=INK, pad=3)
        ticks = range(len(cosines[number]))
        axes.set_xticks(ticks, [str(tick + 1) for tick in ticks], fontsize=7)
        axes.set_yticks(ticks, [str(tick + 1) for tick in ticks] if number == 0 else [], fontsize=7)


def _cells(axes: Any, rows: Array, low: float, size: float) -> None:
    high = 1 + 0.15 * (1 - low)  # the darkest blue would hide the numbers
    axes.imshow(rows, cmap="Blues", vmin=low, vmax=high)
    axes.tick_params(length=0, colors=INK)
    axes.spines[:].set_visible(False)
    for i, row in enumerate(rows if size else []):
        for j, value in enumerate(row):
            shown = f"{value:.2f}".replace("0.", ".", 1) if value < 0.995 else "1"
            axes.text(
                j, i, shown, ha="center", va="center", fontsize=size, color="white" if value > (low + high) / 2 else INK
            )


def _map(part: Any, view: View) -> None:
    """Two principal axes of the occurrences' directions, coloured by sense, with the sentences as numbers."""
    assert view.corpus is not None
    assert view.grouping is not None
    rows, asked = view.corpus.layers[view.layer], view.asked.layers[view.layer]
    centre = rows.mean(0)
    _, spread, axes_of = np.linalg.svd(rows - centre, full_matrices=False)
    share = float((spread[:2] ** 2).sum() / (spread**2).sum())
    points, given = (rows - centre) @ axes_of[:2].T, (asked - centre) @ axes_of[:2].T
    axes = part.subplots()
    for sense, lines in enumerate(view.senses(1)):
        own = points[view.grouping.labels == sense]
        words = ", ".join(lines["words"][:4])
        label = f"{sense + 1}: {lines['occurrences']} occurrences{f' ({words})' if words else ''}"
        axes.scatter(*own.T, s=12, alpha=0.55, color=COLOURS[sense % len(COLOURS)], linewidths=0, label=label)
    for number, point in enumerate(given, 1):
        axes.annotate(
            str(number), point, fontsize=9, weight="bold", ha="center", va="center", color=INK,
            bbox={"boxstyle": "circle,pad=0.25", "fc": "white", "ec": INK, "lw": 0.8},
        )  # fmt: skip
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.03), ncols=2)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_color(GRID)
    title = f"{view.name}, layer {view.layer}: two axes with {share:.0%} of the variance of {len(rows)} occurrences"
    axes.set_title(title, fontsize=9.5, color=INK, loc="left")


def _sentences(mentions: Sequence[Any], width: int) -> str:
    lines = []
    for number, mention in enumerate(mentions, 1):
        text = " ".join(mention.text.string.split())
        lines += textwrap.wrap(f"{number}  {text}", width, subsequent_indent="    ", max_lines=2, placeholder=" …")
    return "\n".join(lines)


def _flat_lines(axes: Any, rows: Sequence[Mapping[str, Any]], value: str, across: str) -> None:
    """What has no place on the axis, such as a baseline."""
    for row in rows:
        axes.axhline(row[value], color=INK, lw=0.9, ls=":")
        axes.annotate(
            str(row[across]), (1, row[value]), xycoords=("axes fraction", "data"), fontsize=7.5, ha="right", va="bottom"
        )


def _calm(axes: Any, across: str, up: str, title: str) -> None:
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.set_title(title, color=INK, fontsize=11)
    axes.grid(color=GRID, lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GRID)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("matplotlib", "plots", "Drawing") from None
    matplotlib.use("Agg", force=False)
    from matplotlib import figure

    return figure
