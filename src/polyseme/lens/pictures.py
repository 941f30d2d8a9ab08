"""Pictures for files, by matplotlib: calm, legible, on white."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polyseme.errors import MissingExtra, Mistake
from polyseme.files import new_file
from polyseme.lens.in_context import Array
from polyseme.tasks.pictures import literal

COLOURS = ("#3b6ea5", "#d1783a", "#4f9a62", "#a8506b", "#7a6bb0", "#8c8c3e", "#5aa0a8", "#6b6b6b")
INK, GRID = "#333333", "#dddddd"
KINDS = (".png", ".svg", ".pdf")


def check_place(path: Path | None, force: bool = False) -> None:
    """Refuse what could not be written before the work, not after it."""
    if path is None:
        return
    if path.exists() and not force:
        raise Mistake(f"{path} is there already. Choose another place, or overwrite it with --force.")
    if path.suffix.lower() not in KINDS:
        raise Mistake(f"{path.name} is no kind of picture that is known. Use {', '.join(KINDS)}.")
    _matplotlib()


def new_figure(width: float, height: float) -> Any:
    """An empty one, in inches."""
    return _matplotlib().figure.Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: Path, force: bool = False) -> None:
    with new_file(path, force) as temporary:
        figure.savefig(temporary, dpi=150, facecolor="white", bbox_inches="tight", format=path.suffix[1:].lower())


def curves(rows: Sequence[Mapping[str, Any]], value: str, title: str, dashed: str | None = None) -> Any:
    """A line for each model, with its interval where there is one, and another value as a dashed line."""
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    names = list(dict.fromkeys(str(row["model"]) for row in rows))
    for name, colour in zip(names, COLOURS * len(names), strict=False):
        of_it = [row for row in rows if str(row["model"]) == name]
        own = [row for row in of_it if not isinstance(row["layer"], str)]
        places = [row["layer"] for row in own]
        axes.plot(places, [row[value] for row in own], marker="o", markersize=4, color=colour, label=literal(name))
        if own and "low" in own[0]:
            low, high = ([row[end] for row in own] for end in ("low", "high"))
            axes.fill_between(places, low, high, color=colour, alpha=0.15, lw=0)
        if dashed:
            label = literal(f"{name}: {_plain(dashed)}")
            axes.plot(places, [row[dashed] for row in own], color=colour, lw=1, ls="--", label=label)
        _flat_lines(axes, [row for row in of_it if isinstance(row["layer"], str)], value)
    _calm(axes, "layer", _plain(value), title)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, fontsize=8)
    return figure


def bars(rows: Sequence[Mapping[str, Any]], name: str, value: str, title: str, dots: bool = False) -> Any:
    """A bar for each row, with its interval where there is one; or a dot, where small differences are to be seen."""
    figure = new_figure(6.4, 0.27 * len(rows) + 1.1)
    axes = figure.subplots()
    places, values = np.arange(len(rows)), np.array([row[value] for row in rows], float)
    if dots:
        axes.plot(values, places, "o", color=COLOURS[0])
    else:
        axes.barh(places, values, color=COLOURS[0], height=0.62, alpha=0.85)
    if "low" in rows[0]:
        errors = np.abs(np.array([[row["low"], row["high"]] for row in rows], float).T - values)
        axes.errorbar(values, places, xerr=errors, fmt="none", ecolor=INK, elinewidth=1)
    axes.set_yticks(places, [literal(str(row[name])) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    _calm(axes, _plain(value), "", title)
    axes.grid(visible=False, axis="y")
    return figure


def heat(matrix: Array, title: str, rows: str, columns: str) -> Any:
    """A matrix of numbers from 0 to 1."""
    side = max(3.4, 0.45 * max(matrix.shape) + 1.6)
    figure = new_figure(side + 0.6, side)
    axes = figure.subplots()
    cells(axes, matrix, 0.0, 8)
    axes.set_xticks(range(matrix.shape[1]))
    axes.set_yticks(range(matrix.shape[0]))
    axes.set_title(title, color=INK, fontsize=11)
    axes.set_xlabel(literal(columns), color=INK)
    axes.set_ylabel(literal(rows), color=INK)
    return figure


def cells(axes: Any, rows: Array, low: float, size: float) -> None:
    """A matrix whose numbers are told by blue, and written where the size of the letters is not 0."""
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


def panels(rows: Sequence[Mapping[str, Any]], across: str, values: Sequence[str], title: str) -> Any:
    """One curve a value, side by side over the same axis."""
    figure = new_figure(3.6 * len(values) + 0.4, 3.5)
    figure.suptitle(literal(title), color=INK, fontsize=12)
    for number, (axes, value) in enumerate(zip(np.atleast_1d(figure.subplots(1, len(values))), values, strict=True)):
        axes.plot([row[across] for row in rows], [row[value] for row in rows], marker="o", color=COLOURS[number])
        _calm(axes, _plain(across), _plain(value), "")
    return figure


def _flat_lines(axes: Any, rows: Sequence[Mapping[str, Any]], value: str) -> None:
    """What has no place on the axis, such as a baseline."""
    for row in rows:
        axes.axhline(row[value], color=INK, lw=0.9, ls=":")
        axes.annotate(
            str(row["layer"]),
            (1, row[value]),
            xycoords=("axes fraction", "data"),
            fontsize=7.5,
            ha="right",
            va="bottom",
        )


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _calm(axes: Any, across: str, up: str, title: str) -> None:
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.set_title(literal(title), color=INK, fontsize=11)
    axes.grid(color=GRID, lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GRID)


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise MissingExtra("matplotlib", "plots", "Drawing") from None
    return matplotlib
