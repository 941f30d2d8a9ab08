"""A comparison's table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from polyseme.comparison.plan import Way
from polyseme.comparison.table import Row

HEADINGS = (
    "labels", "#", "encoder", "layers", "tune", "score", "95 %", "vs best", "vs static", "learned", "seconds", "memory",
    "words/s",
)  # fmt: skip


def text_table(rows: Sequence[Row], score: str) -> str:
    """Columns of equal width; numbers to the right."""
    cells = [[score.replace("_", " ") if name == "score" else name for name in HEADINGS], *map(row_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in (2, 3, 4) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def row_cells(row: Row) -> list[str]:
    """One row as people read it, in the order of HEADINGS."""
    return [
        f"{row.n_labels:,}", str(row.rank), _encoder(row), str(row.way.layers), row.way.tune,
        f"{row.score:.4f}",
        f"{row.low:.3f}–{row.high:.3f}", "best" if row.rank == 1 else p(row.p_best), p(row.p_static),
        count(row.parameters), seconds(row), size(row.peak_bytes), count(row.words_per_second),
    ]  # fmt: skip


def _encoder(row: Row) -> str:
    return name(row.way) + (f" ({trouble(row)})" if trouble(row) else "")


def trouble(row: Row) -> str:
    """What there is to know beside the score."""
    parts = [f"{row.n_failed} failed"] if row.n_failed else []
    parts += [f"one class of everything in {row.n_one_answer} of {len(row.by_seed)}"] if row.n_one_answer else []
    return ", ".join(parts)


def name(way: Way) -> str:
    return f"{way.encoder}, from scratch" if way.scratch else way.encoder


def p(value: float | None) -> str:
    """
    >>> p(0.0004), p(0.034), p(None)
    ('p < 0.001', 'p = 0.034', '–')
    """
    if value is None:
        return "–"
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"


def count(number: float | None) -> str:
    """
    >>> count(950), count(12_345), count(22_700_000), count(None)
    ('950', '12.3 K', '22.7 M', '–')
    """
    if number is None:
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:.0f}"


def size(n_bytes: int | None) -> str:
    return "–" if n_bytes is None else f"{n_bytes / 1e6:,.0f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.1f} GB"


def seconds(row: Row) -> str:
    """A fit, and once the reading that all fits on a frozen encoder share."""
    if row.seconds is None:
        return "–"
    fit = f"{row.seconds:.1f}" if row.seconds < 100 else f"{row.seconds:.0f}"
    return fit if row.encoding_seconds is None else f"{fit} (+{row.encoding_seconds:.1f} once)"
