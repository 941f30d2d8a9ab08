"""A comparison as it runs: a table that grows on a terminal, a plain line a fit elsewhere."""

from __future__ import annotations

import sys
import time
from statistics import fmean
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from polyseme.cli.progress import clock

if TYPE_CHECKING:
    from polyseme.comparison.compare import Comparison
    from polyseme.comparison.plan import Cell
    from polyseme.comparison.results import Line
    from polyseme.train.report import Report

_EVERY = 0.2  # seconds between pictures


class Live:
    """Shows the rows so far, the fit that runs, and the time that is left."""

    def __enter__(self) -> Self:
        self._shown: Any = None
        self._asked: Comparison | None = None
        self._lines: dict[str, Line] = {}
        self._seconds: dict[str, float] = {}  # of fits in this run, by id
        self._now, self._last, self._drawn = "", time.monotonic(), 0.0
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live as Screen

            on_screen = sys.stdout.isatty()  # else results would go to stderr too
            self._shown = Screen(
                console=Console(stderr=True), transient=True, refresh_per_second=4, redirect_stdout=on_screen
            )
            self._shown.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._shown is not None:
            self._shown.stop()

    def begin(self, asked: Comparison) -> None:
        """Say what will be done, and what not."""
        from polyseme.comparison.results import Results

        before = Results(asked.folder)
        self._asked = asked
        self._lines = {cell.id: before.lines[cell.id] for cell in asked.plan.cells if before.has(cell.id)}
        for line in asked.said:
            self.say(line)
        done = f", {len(self._lines)} of them done before" if self._lines else ""
        n_fits = len(asked.plan.cells)
        self.say(f"{n_fits} fit{'s' * (n_fits > 1)}{done}, the results in {asked.folder}")
        self._last = time.monotonic()

    def tell(self, report: Report) -> None:
        """What a fit has to tell; of many it is too much to keep, and that it began again stands with its result."""
        if report.said and report.stage not in ("Encoding", "Fitting"):
            self.say(report.said)
        self._now = f"{report.stage} {100 * report.done / max(report.total, 1e-9):.0f} % {report.note}"
        self._draw()

    def done(self, cell: Cell, line: Line) -> None:
        assert self._asked is not None
        if cell.id in self._lines:
            return
        now, before = time.monotonic(), len(self._lines)
        self._lines[cell.id] = line
        self._seconds[cell.id], self._last = now - self._last, now
        if self._shown is None or "error" in line:
            result = line.get("error") or f"{self._asked.measure.name} {line['scores'][self._asked.measure.name]:.4f}"
            result += _began_again(line)
            place = f"{before + 1}/{len(self._asked.plan.cells)}"
            self.say(f"{place} · {cell.way} · {cell.n_labels:,} labels · seed {cell.seed}: {result} · {self._left()}")
        self._draw()

    def say(self, line: str) -> None:
        if self._shown is not None:
            self._shown.console.print(line, highlight=False, markup=False)
        else:
            print(line, file=sys.stderr, flush=True)

    def _left(self) -> str:
        assert self._asked is not None
        known: dict[Any, dict[int, list[float]]] = {}  # seconds by way and number of labels
        for cell in self._asked.plan.cells:
            if cell.id in self._seconds:
                known.setdefault(cell.way, {}).setdefault(cell.n_labels, []).append(self._seconds[cell.id])
        waiting = [cell for cell in self._asked.plan.cells if cell.id not in self._lines]
        if not known:
            return "? left" if waiting else "0:00 left"
        return f"{clock(sum(_expected(known, cell.way, cell.n_labels) for cell in waiting))} left"

    def _draw(self) -> None:
        if self._shown is None or self._asked is None or time.monotonic() - self._drawn < _EVERY:
            return
        self._drawn = time.monotonic()
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        from polyseme.comparison.table import means

        table = Table("labels", "way", self._asked.measure.name.replace("_", " "), "seeds", box=None, pad_edge=False)
        for way, n_labels, scores in means(self._asked.plan, self._lines, self._asked.measure.name)[:30]:
            spread = f" ({min(scores):.3f}–{max(scores):.3f})" if len(scores) > 1 else ""
            table.add_row(f"{n_labels:,}", Text(str(way)), f"{fmean(scores):.4f}{spread}", str(len(scores)))
        done = f"{len(self._lines)}/{len(self._asked.plan.cells)} fits · {self._left()} · {self._now}"
        self._shown.update(Group(table, Text(done, style="dim", no_wrap=True, overflow="ellipsis")))


def _began_again(line: Line) -> str:
    n = len(line.get("said", ()))
    return f" · begun again {n} time{'s' * (n > 1)}, as it said one class of everything" if n else ""


def _expected(known: dict[Any, dict[int, list[float]]], way: Any, n_labels: int) -> float:
    """What fits of the same way took with as many labels, or with the nearest number of them; else what others took.

    Half of the seconds are taken to grow with the labels: a fit has costs of its own.
    """
    if way not in known:
        return fmean(_expected({other: known[other]}, other, n_labels) for other in known)
    nearest = min(known[way], key=lambda count: abs(count - n_labels))
    return fmean(known[way][nearest]) * (0.5 + 0.5 * n_labels / nearest)
