"""Progress on stderr: a bar a stage on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

_EVERY = 5.0  # seconds between plain lines


class Stages:
    """Shows how far each stage of the work is; `say` tells something in between."""

    def __enter__(self) -> Self:
        self._bars = _bars() if sys.stderr.isatty() else None
        self._tasks: dict[str, Any] = {}
        self._begins: dict[str, tuple[float, float]] = {}  # a resumed stage does not begin at 0
        self._spoke = time.monotonic()
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bars is not None:
            self._bars.stop()

    def show(self, stage: str, done: float, total: float, note: str = "") -> None:
        """Call it as often as you like."""
        now = time.monotonic()
        begin, already = self._begins.setdefault(stage, (now, done))
        if self._bars is not None:
            if stage not in self._tasks:
                self._tasks[stage] = self._bars.add_task(stage, total=total, note=note)
            self._bars.update(self._tasks[stage], completed=done, total=total, note=note)
        elif now - self._spoke >= _EVERY:
            self._spoke = now
            left = (now - begin) * (total - done) / (done - already) if done > already else float("nan")
            self.say(" · ".join([f"{stage}: {100 * done / max(total, 1e-9):.0f} %", f"{clock(left)} left", note]))

    def say(self, line: str) -> None:
        if self._bars is not None:
            self._bars.console.print(line, highlight=False, markup=False)
        else:
            print(line, file=sys.stderr, flush=True)

    def of(self, stage: str) -> Callable[[float, float], None]:
        """A function of (done, total) for one stage."""
        return lambda done, total: self.show(stage, done, total)


def _bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    # rich would send results to stderr too, also those meant for a file or a pipe
    return Progress(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty())


def clock(seconds: float) -> str:
    """Seconds as people say them.

    >>> clock(5), clock(65), clock(3700), clock(float("nan"))
    ('0:05', '1:05', '1:01:40', '?')
    """
    if seconds != seconds:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
