"""Progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_EVERY = 5.0  # seconds between plain lines

Advance = Callable[[float, float, str], None]  # done, total, and a word on the side


@contextmanager
def progress(label: str) -> Iterator[Advance]:
    """Give a function to call with (done, total, note) as often as one likes."""
    with _bar(label) if sys.stderr.isatty() else _lines(label) as advance:
        yield advance


@contextmanager
def _bar(label: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(label, total=None, note="")
        yield lambda done, total, note="": shown.update(task, completed=done, total=total, note=note)  # type: ignore[misc]


@contextmanager
def _lines(label: str) -> Iterator[Advance]:
    start = last = time.monotonic()

    def advance(done: float, total: float, note: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY:
            last = now
            left = (now - start) * (total - done) / done if done else float("nan")
            parts = [f"{label}: {100 * done / total:.0f} %", f"{clock(now - start)} gone", f"{clock(left)} left", note]
            print(" · ".join(part for part in parts if part), file=sys.stderr, flush=True)

    yield advance
    if last > start:  # it has spoken before, so it also says that it is done
        print(f"{label}: done in {clock(time.monotonic() - start)}", file=sys.stderr, flush=True)


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
