"""The picture of a word's senses: cosines layer by layer, and a map of its occurrences."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from polyseme.lens.pictures import COLOURS, GRID, INK, cells, new_figure
from polyseme.lens.views import View
from polyseme.tasks.pictures import literal
from polyseme.text.mentions import Mention

_MOST_ACROSS = 8  # matrices in a row


def draw(word: str, views: Sequence[View]) -> Any:
    """A matrix of cosines a layer for each encoder; for those with a corpus a map of the word's occurrences."""
    mentions = views[0].asked.mentions
    maps = [view for view in views if view.corpus is not None]
    rows = [(view, start) for view in views for start in range(0, len(view.asked.layers), _MOST_ACROSS)]
    across = min(_MOST_ACROSS, max(len(view.asked.layers) for view in views))
    width = max(1.55 * across + 0.8, 7.5)
    names = _sentences(mentions, int(width * 13))
    heights = [*[1.9] * len(rows), *[4.6] * len(maps), 0.2 * names.count("\n") + 0.35]
    figure = new_figure(width, sum(heights) + 0.5)
    figure.suptitle(f"“{literal(word)}” in {len(mentions)} contexts", color=INK, fontsize=13)
    parts = np.atleast_1d(figure.subfigures(len(heights), 1, height_ratios=heights))
    low = min(0.9, *(float(matrix.min()) for view in views for matrix in view.asked.cosines()))
    for part, (view, start) in zip(parts, rows, strict=False):
        _matrices(part, view, start, across, low)
    for part, view in zip(parts[len(rows) :], maps, strict=False):
        _map(part, view)
    parts[-1].text(0.01, 0.98, literal(names), va="top", fontsize=8.5, color=INK, linespacing=1.35)
    return figure


def _matrices(part: Any, view: View, start: int, across: int, low: float) -> None:
    cosines = view.asked.cosines()[start : start + across]
    name = literal(f"{view.name} ({view.family})") if start == 0 else ""
    part.suptitle(name, x=0.01, ha="left", fontsize=10, color=INK)
    size = 6.5 if len(view.asked.mentions) <= 6 else 0
    for number, axes in enumerate(part.subplots(1, across, squeeze=False)[0]):
        if number >= len(cosines):
            axes.set_axis_off()
            continue
        cells(axes, cosines[number], low, size)
        axes.set_title(f"layer {start + number}", fontsize=8.5, color=INK, pad=3)
        ticks = range(len(cosines[number]))
        axes.set_xticks(ticks, [str(tick + 1) for tick in ticks], fontsize=7)
        axes.set_yticks(ticks, [str(tick + 1) for tick in ticks] if number == 0 else [], fontsize=7)


def _map(part: Any, view: View) -> None:
    """Two principal axes of the occurrences' directions, coloured by sense, with the sentences as numbers."""
    assert view.grouping is not None
    rows, asked = view.points()  # centred already
    _, spread, axes_of = np.linalg.svd(rows, full_matrices=False)
    share = float((spread[:2] ** 2).sum() / (spread**2).sum())
    points, given = rows @ axes_of[:2].T, asked @ axes_of[:2].T
    axes = part.subplots()
    for sense, lines in enumerate(view.senses(1)):
        own = points[view.grouping.labels == sense]
        words = ", ".join(lines["words"][:4])
        label = f"{sense + 1}: {lines['occurrences']} occurrences{f' ({words})' if words else ''}"
        axes.scatter(*own.T, s=12, alpha=0.55, color=COLOURS[sense % len(COLOURS)], linewidths=0, label=literal(label))
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
    axes.set_title(literal(title), fontsize=9.5, color=INK, loc="left")


def _sentences(mentions: Sequence[Mention], width: int) -> str:
    lines = []
    for number, mention in enumerate(mentions, 1):
        text = " ".join(mention.text.string.split())
        lines += textwrap.wrap(f"{number}  {text}", width, subsequent_indent="    ", max_lines=2, placeholder=" …")
    return "\n".join(lines)
