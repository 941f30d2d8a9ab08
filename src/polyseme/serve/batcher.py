"""Requests of many clients, gathered into batches by their tokens."""

from __future__ import annotations

import asyncio
import math
import time
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias, TypeVar

from polyseme.serve.computing import Threads, attempt

Made = TypeVar("Made")
_Timed: TypeAlias = tuple[list[Any], float]  # what was made of each input, and the seconds it took

_AHEAD = 4  # batches' worth of waiting inputs among which those of like length are looked for
_PLENTY = 4  # batches' worth a thread that wait when threads are given one ahead
_REOPEN = 0.9  # of the limit: once full, nothing is taken until so little waits


@dataclass(frozen=True)
class Work:
    """What is to be done with inputs; those whose works have equal keys are done together."""

    key: tuple[Any, ...]
    run: Callable[[Sequence[Any]], list[Any]] = field(compare=False)
    budget: int = field(compare=False)  # tokens of a batch
    shared: bool = field(compare=False)  # whether each batch wants all threads, rather than one


class Full(Exception):
    """Too much is waiting; `seconds` from now there will be room."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"full for {seconds} s")
        self.seconds = seconds


@dataclass
class _Request:
    work: Work
    answer: asyncio.Future[list[Any]]
    found: list[Any]
    n_left: int
    n_waiting: int  # tokens


@dataclass(order=True, slots=True)
class _Item:
    """One input of a request; the lowest turn comes first."""

    turn: float
    number: int
    request: _Request = field(compare=False)
    place: int = field(compare=False)
    size: int = field(compare=False)
    given: Any = field(compare=False)


@dataclass
class _Pace:
    """How fast one thread has been of late; the first batches, which do many things for the first time, say little."""

    n_batches: int = 0
    n_tokens: float = 0.0
    n_seconds: float = 0.0

    def add(self, n_tokens: int, seconds: float) -> None:
        self.n_batches += 1
        self.n_tokens = 0.98 * self.n_tokens + n_tokens
        self.n_seconds = 0.98 * self.n_seconds + seconds

    def seconds(self, n_tokens: int) -> float:
        return n_tokens * self.n_seconds / self.n_tokens if self.n_batches > 20 else 0.0


Observer = Callable[[Work, int, int, float], None]  # what was done, inputs, tokens, seconds


class Batcher:
    """All waiting inputs, and the threads they are computed in. It lives in one event loop.

    Nothing waits for a timer: whenever a thread is free, it takes what is there. Each request has its share of the
    turns, so that one with a thousand texts does not hold up one with a single text.
    """

    def __init__(self, threads: Threads, limit: int, observe: Observer | None = None) -> None:
        self.threads, self.n_threads, self.limit, self.observe = threads, threads.n_threads, limit, observe
        self.waiting = 0  # tokens
        self._n_free = self.n_threads  # less than none where batches wait for threads
        self._all_busy = False  # with one batch, beside which no other is to run
        self._items: list[_Item] = []
        self._numbers = count()
        self._clock = 0.0  # the turn that is being served
        self._n_requests = 0
        self._pace = _Pace()
        self._closed = False

    @property
    def full(self) -> bool:
        """Whether every request would be refused; cheap to ask."""
        if self._closed and self.waiting < _REOPEN * self.limit:
            self._closed = False
        return self._closed

    @property
    def seconds_waiting(self) -> float:
        """How long what waits will take."""
        return self._pace.seconds(self.waiting) / self.n_threads

    @property
    def retry_after(self) -> int:
        return max(1, math.ceil(self.seconds_waiting * (1 - _REOPEN)))

    def results(
        self, work: Work, inputs: Sequence[Any], sizes: Sequence[int], deadline: float
    ) -> asyncio.Future[list[Any]]:
        """What the work makes of each input, or TimeoutError at the deadline; what is cancelled in time is not made.

        Full is raised at once if too much is waiting. Whoever is not refused waits from this moment on: were it later,
        many more requests would be read than there is room for.
        """
        total = sum(sizes)
        self._check(total, deadline)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[Any]] = loop.create_future()
        if not inputs:
            answer.set_result([])
            return answer
        request = _Request(work, answer, [None] * len(inputs), len(inputs), total)
        late = loop.call_at(deadline, _expire, answer)
        answer.add_done_callback(lambda _: self._leave(request, late))
        self._add(request, inputs, sizes)
        return answer

    def _leave(self, request: _Request, late: asyncio.TimerHandle) -> None:
        late.cancel()
        self._n_requests -= 1
        self.waiting -= request.n_waiting  # what was not begun never will be
        request.n_waiting = 0

    async def aside(self, make: Callable[[], Made], size: int, deadline: float) -> Made:
        """What `make` makes in a thread that is none of these; until it is done, its size is among what waits."""
        self._check(size, deadline)
        self.waiting += size
        making = asyncio.get_running_loop().run_in_executor(None, make)
        making.add_done_callback(lambda _: self._made(size))
        async with asyncio.timeout_at(deadline):
            return await asyncio.shield(making)  # the thread goes on even if nobody waits for it any more

    def _made(self, size: int) -> None:
        self.waiting -= size

    def _check(self, size: int, deadline: float) -> None:
        """Whether there is room for so much more, and time for it."""
        seconds_left = deadline - asyncio.get_running_loop().time()
        if seconds_left <= 0:
            raise TimeoutError
        if self.full or self.waiting + size > self.limit or self.seconds_waiting > seconds_left:
            self._closed = self.waiting >= _REOPEN * self.limit
            raise Full(self.retry_after)

    def _add(self, request: _Request, inputs: Sequence[Any], sizes: Sequence[int]) -> None:
        self.waiting += request.n_waiting
        self._n_requests += 1
        turn = self._clock
        for place, (given, size) in enumerate(zip(inputs, sizes, strict=True)):
            insort(self._items, _Item(turn, next(self._numbers), request, place, size, given))
            turn += size
        self._begin()

    def _begin(self) -> None:
        """Give free threads something to do, and busy ones something to do next."""
        while (self._n_free > 0 or self._may_go_ahead()) and (batch := self._take()):
            work = batch[0].request.work
            n_threads = self._n_free if self._alone(work) else 1
            self._n_free -= n_threads
            self._all_busy = n_threads > 1
            pool = self.threads.given(n_threads)
            running = asyncio.get_running_loop().run_in_executor(pool, _timed, batch, n_threads)
            running.add_done_callback(self._ended(batch, n_threads))

    def _may_go_ahead(self) -> bool:
        """Whether each thread may have a batch ready for when it has done its own: where much waits, the loop has a
        flood to read and may take a while to hear that a thread is free."""
        if not self._items or self._n_free <= -self.n_threads or self._all_busy:
            return False
        work = self._items[0].request.work
        return not work.shared and self.waiting > _PLENTY * self.n_threads * work.budget

    def _alone(self, work: Work) -> bool:
        """Whether a batch gets all threads; a small work does when there is nothing else for them to do."""
        return work.shared or (not self._items and self._n_free == self.n_threads)

    def _take(self) -> list[_Item]:
        """The input whose turn it is, and others of the same work and of like length, as many as fit."""
        self._drop()
        if not self._items:
            return []
        first = self._items[0]
        work = first.request.work
        if work.shared and self._n_free < self.n_threads:
            return []
        room = self._room(work)
        batch, left = [first], room - first.size
        for item in sorted(self._near(work, room), key=lambda item: abs(item.size - first.size)):
            if item.size <= left:
                batch.append(item)
                left -= item.size
        taken = {item.number for item in batch}
        self._items = [item for item in self._items if item.number not in taken]
        self._charge(batch)
        return batch

    def _drop(self) -> None:
        """Forget what nobody waits for any more."""
        if any(item.request.answer.done() for item in self._items):
            self._items = [item for item in self._items if not item.request.answer.done()]

    def _room(self, work: Work) -> int:
        """Tokens of a batch: its budget, or less where several threads are free to share what waits."""
        if work.shared:
            return work.budget
        return min(work.budget, max(work.budget // 4, math.ceil(self.waiting / max(1, self._n_free))))

    def _near(self, work: Work, room: int) -> list[_Item]:
        found, total = [], 0
        for item in self._items[1:]:
            if item.request.work == work:
                found.append(item)
                total += item.size
                if total > _AHEAD * room:
                    break
        return found

    def _charge(self, batch: list[_Item]) -> None:
        total = sum(item.size for item in batch)
        for item in batch:
            item.request.n_waiting -= item.size
        self.waiting -= total
        # the clock goes as far as each request would have come, had they been served in turn
        self._clock = max(self._clock + total / max(1, self._n_requests), batch[0].turn)

    def _ended(self, batch: list[_Item], n_threads: int) -> Callable[[asyncio.Future[_Timed]], None]:
        def ended(running: asyncio.Future[_Timed]) -> None:
            self._n_free += n_threads
            self._all_busy = False
            if not running.cancelled():
                found, seconds = running.result()
                if seconds:
                    self._tell(batch, n_threads, seconds)
                for item, one in zip(batch, found, strict=True):
                    _settle(item, one)
            self._begin()

        return ended

    def _tell(self, batch: list[_Item], n_threads: int, seconds: float) -> None:
        total = sum(item.size for item in batch)
        self._pace.add(total, seconds * n_threads)
        if self.observe:
            self.observe(batch[0].request.work, len(batch), total, seconds)


def _timed(batch: Sequence[_Item], n_threads: int) -> _Timed:
    """In a thread, for those who have not gone while the batch waited for it."""
    wanted = [item for item in batch if not item.request.answer.done()]
    if not wanted:
        return [None] * len(batch), 0.0
    start = time.perf_counter()
    made = iter(attempt(wanted[0].request.work.run, [item.given for item in wanted], n_threads))
    still = {item.number for item in wanted}
    return [next(made) if item.number in still else None for item in batch], time.perf_counter() - start


def _expire(answer: asyncio.Future[list[Any]]) -> None:
    if not answer.done():
        answer.set_exception(TimeoutError())


def _settle(item: _Item, found: Any) -> None:
    request = item.request
    if request.answer.done():
        return
    if isinstance(found, Exception):
        request.answer.set_exception(found)
        return
    request.found[item.place] = found
    request.n_left -= 1
    if not request.n_left:
        request.answer.set_result(request.found)
