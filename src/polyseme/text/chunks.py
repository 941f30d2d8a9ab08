"""Work on passages in worker processes, a chunk at a time, with the results in order."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from polyseme.errors import Mistake
from polyseme.text.corpus import Passage

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some passages one after another, of one file or several."""

    strings: list[str]
    document_ends: list[int]  # behind how many of the strings a document ends
    n_read: int  # bytes on disk that were read up to its end


def chunks(
    paths: Iterable[Path],
    read: Callable[[Path, Callable[[int], None]], Iterator[Passage]],
    n_characters: int,
) -> Iterator[Chunk]:
    """The passages of all files in chunks of about that many characters; `read(path, on_read)` reads a file."""
    n_before, n_read = 0, 0

    def on_read(n: int) -> None:
        nonlocal n_read
        n_read = n_before + n

    strings: list[str] = []
    ends: list[int] = []
    room = n_characters
    for path in paths:
        for passage in read(path, on_read):
            strings.append(passage.string)
            if passage.ends_document:
                ends.append(len(strings))
            room -= len(passage.string)
            if room <= 0:
                yield Chunk(strings, ends, n_read)
                strings, ends, room = [], [], n_characters
        n_before += path.stat().st_size
        n_read = n_before
    yield Chunk(strings, ends, n_read)


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int | None
) -> Generator[Result, None, None]:
    """What `function`, of some module's top level, makes of each item; a few are under way at a time.

    The processes start as the platform's default says; where that is to spawn them, as on macOS, a script that gets
    here needs its `if __name__ == "__main__":`.
    """
    processes = (os.cpu_count() or 1) if processes is None else processes
    if processes < 1:
        raise Mistake(f"processes={processes} does no work; choose 1 or more, or None for one a core.")
    if processes == 1:
        yield from map(function, items)
        return
    items = iter(items)
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context(), initializer=_follow_parent)
    try:
        under_way: deque[Future[Result]] = deque(pool.submit(function, item) for item in islice(items, 2 * processes))
        while under_way:
            result = under_way.popleft().result()
            under_way.extend(pool.submit(function, item) for item in islice(items, 1))
            yield result
    except BrokenProcessPool:
        raise Mistake(
            f"One of {processes} worker processes ended suddenly, most likely for want of memory. "
            "Free some, and run it again."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_parent() -> None:
    """End with the parent, however it ends, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
