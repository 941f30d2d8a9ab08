"""Pictures of how right a classifier is; matplotlib draws them."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np

from polyseme.files import write_file
from polyseme.tasks.report import Report

_MOST_NUMBERED = 25  # classes whose cells have room for a number


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def confusion_picture(report: Report, path: Path) -> None:
    """The confusion matrix as a picture: shades are shares of each wanted class, numbers are counts."""
    from matplotlib.figure import Figure  # without pyplot: no window, no state that threads would share

    n = len(report.labels)
    side = min(14.0, 2.2 + 0.45 * n)
    figure = Figure(figsize=(side + 1, side), layout="constrained")
    axes = figure.add_subplot()
    shares = report.matrix / np.maximum(report.matrix.sum(1, keepdims=True), 1)
    shown = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    names = [_short(str(label)) for label in report.labels]
    axes.set_xticks(range(n), names, rotation=90 if max(map(len, names)) > 4 else 0)
    axes.set_yticks(range(n), names)
    axes.set_xlabel("given")
    axes.set_ylabel("wanted")
    axes.set_title(f"{report.accuracy:.1%} of {report.matrix.sum():,} right")
    if n <= _MOST_NUMBERED:
        for (row, column), count in np.ndenumerate(report.matrix):
            color = "white" if shares[row, column] > 0.55 else "black"
            axes.text(column, row, f"{count:,}", ha="center", va="center", color=color, fontsize=8)
    figure.colorbar(shown, ax=axes, shrink=0.7, label="share of the wanted class")
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=150)
    write_file(path, drawn.getvalue())


def literal(text: str) -> str:
    """For matplotlib, to which a dollar would begin a formula."""
    return text.replace("$", r"\$")


def _short(name: str) -> str:
    return literal(name if len(name) <= 18 else name[:17] + "…")
