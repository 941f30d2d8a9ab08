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


class Live:
    """Shows the rows so far, the fit that runs, and the time that is left."""

    def __enter__(self) -> Self:
        self._shown: Any = None
        self._asked: Comparison | None = None
        self._lines: dict[str, Line] = {}
        self._seconds: dict[str, float] = {}  # of fits in this run, by id
        self._now, self._last = "", time.monotonic()
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live as Screen

            self._shown = Screen(console=Console(stderr=True), transient=True, refresh_per_second=4)
            self._shown.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._shown is not None:
            self._shown.stop()

    def begin(self, asked: Comparison) -> None:
        """Say what will be done, and what not."""
        self._asked, self._last = asked, time.monotonic()
        for line in asked.said:
            self.say(line)
        self.say(f"{len(asked.plan.cells)} fits, the results in {asked.folder}")

    def tell(self, report: Report) -> None:
        """What a fit has to tell; of many it is too much to keep, but for what went wrong."""
        if report.said and report.stage != "Encoding":
            self.say(report.said)
        self._now = f"{report.stage} {100 * report.done / max(report.total, 1e-9):.0f} % {report.note}"
        self._draw()

    def done(self, cell: Cell, line: Line) -> None:
        assert self._asked is not None
        now = time.monotonic()
        before = len(self._lines)
        self._lines[cell.id] = line
        seconds, self._last = now - self._last, now
        if seconds > 0.001:  # one of an earlier run comes at once
            self._seconds[cell.id] = seconds
        if self._shown is None:
            result = line.get("error") or f"{self._asked.measure.name} {line['scores'][self._asked.measure.name]:.4f}"
            place = f"{before + 1}/{len(self._asked.plan.cells)}"
            self.say(f"{place} · {cell.way} · {cell.n_labels:,} labels · seed {cell.seed}: {result} · {self._left()}")
        self._draw()

    def say(self, line: str) -> None:
        if self._shown is not None:
            self._shown.console.print(line, highlight=False, markup=False)
        else:
            print(line, file=sys.stderr, flush=True)

    def _left(self) -> str:
        """A fit takes about as long as others of its way, in proportion to its labels; an unknown way as the mean."""
        assert self._asked is not None
        rates: dict[Any, list[float]] = {}
        for cell in self._asked.plan.cells:
            if cell.id in self._seconds:
                rates.setdefault(cell.way, []).append(self._seconds[cell.id] / cell.n_labels)
        if not rates:
            return "? left"
        mean = fmean(rate for known in rates.values() for rate in known)
        waiting = [cell for cell in self._asked.plan.cells if cell.id not in self._lines]
        return f"{clock(sum(fmean(rates.get(cell.way, [mean])) * cell.n_labels for cell in waiting))} left"

    def _draw(self) -> None:
        if self._shown is None or self._asked is None:
            return
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
