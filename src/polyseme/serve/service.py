"""What every route has at hand: the models, the limits, the queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from fastapi import Request
from starlette.types import Receive

from polyseme.errors import Mistake
from polyseme.serve.batcher import Batcher, Full, Work
from polyseme.serve.computing import Threads
from polyseme.serve.limits import Limits
from polyseme.serve.metrics import Metrics
from polyseme.serve.models import Models
from polyseme.serve.refusals import Refusal, overloaded

Made = TypeVar("Made")
Words = str | Sequence[str]  # a text, or the list of its words

logger = logging.getLogger(__name__)

_AT_ONCE = 4000  # characters that are tokenised in well under a millisecond or two; more go to a thread
_CHARACTERS = 16  # a token, at the most: a text of more is refused before it is tokenised


@dataclass
class Service:
    """One server's models and queue."""

    models: Models
    limits: Limits
    metrics: Metrics = field(default_factory=Metrics)
    draining: bool = False
    batcher: Batcher = field(init=False)

    def __post_init__(self) -> None:
        self.batcher = Batcher(Threads(torch.get_num_threads()), self.limits.waiting_tokens, self.metrics.batch)

    def check_texts(self, texts: Sequence[Words]) -> int:
        """Whether there are not too many, nor too long ones to be tokenised; how many characters they have in all."""
        self.check_count(len(texts))
        return self.check_lengths([length(text) for text in texts])

    def check_count(self, n_inputs: int) -> None:
        if n_inputs > self.limits.inputs:
            raise Refusal(413, f"{n_inputs} inputs were sent; {self.limits.inputs} a request are the most.")

    def check_lengths(self, lengths: Sequence[int]) -> int:
        """Whether texts of so many characters may be tokenised; how many they are in all."""
        most = _CHARACTERS * self.limits.tokens_per_input
        for size in lengths:
            if size > most:
                raise Refusal(413, f"A text has {size} characters; {most} are the most. Cut it up.")
        most = _CHARACTERS * self.limits.waiting_tokens
        if (total := sum(lengths)) > most:
            raise Refusal(413, f"The inputs have {total} characters; {most} in all are the most. Send fewer at once.")
        return total

    def check_sizes(self, sizes: Sequence[int]) -> None:
        most = self.limits.tokens_per_input
        for place, size in enumerate(sizes):
            if size > most:
                raise Refusal(413, f"Input {place} has {size} tokens; {most} are the most. Cut it up.")

    def check_numbers(self, n_numbers: int) -> None:
        if n_numbers > self.limits.reply_numbers:
            most = self.limits.reply_numbers
            raise Refusal(413, f"The reply would hold {n_numbers} numbers; {most} are the most. Send less at once.")

    def check_cost(self, n_tokens: int, n_inputs: int) -> None:
        if n_tokens > self.limits.waiting_tokens:
            todo = "Send fewer texts at once." if n_inputs > 1 else "Cut it up."
            most = self.limits.waiting_tokens
            raise Refusal(413, f"The request costs {n_tokens} tokens; {most} are the most. {todo}")

    async def prepared(self, request: Request, n_characters: int, make: Callable[[], Made]) -> Made:
        """What `make` makes of texts of so many characters, in a thread where they are many; else as results()."""
        if self.batcher.full:
            raise overloaded(self.batcher.retry_after)
        with self._told(422, "The text could not be read"):
            if n_characters <= _AT_ONCE:
                return make()
            making = self.batcher.aside(make, n_characters // _CHARACTERS, self._deadline(request))
            return await _unless_gone(request.receive, making)

    async def results(self, request: Request, work: Work, inputs: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
        """What the work makes of the inputs, unless the client goes away, the queue is full or time is over."""
        sizes = [max(1, size) for size in sizes]
        self.check_cost(sum(sizes), len(inputs))
        with self._told(424, "The model could not compute this"):
            computing = self.batcher.results(work, inputs, sizes, self._deadline(request))
            return await _unless_gone(request.receive, computing)

    def _deadline(self, request: Request) -> float:
        arrived: float = request.scope["arrived"]
        return arrived + self.limits.deadline

    @contextmanager
    def _told(self, status: int, problem: str) -> Iterator[None]:
        """What is raised, as the client is told it."""
        try:
            yield
        except Full as full:
            raise overloaded(full.seconds) from None
        except TimeoutError:
            seconds = self.limits.deadline
            raise Refusal(504, f"There was no answer within {seconds:g} s. Send less at once.") from None
        except Mistake as mistake:
            raise Refusal(422, str(mistake)) from None
        except Refusal:
            raise
        except Exception as error:
            log_place(error)
            raise Refusal(status, f"{problem} ({type(error).__name__}).") from None


def length(text: Words) -> int:
    """The characters of a text, or of the words it is split into and the spaces between them."""
    return len(text) if isinstance(text, str) else sum(map(len, text)) + max(0, len(text) - 1)


async def _unless_gone(receive: Receive, computed: Awaitable[Made]) -> Made:
    """The result, or nothing where the client leaves first: then it is not computed any more."""
    computing = asyncio.ensure_future(computed)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({computing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not computing.done():
            raise Refusal(499, "The client has gone away.")
        return computing.result()
    finally:
        computing.cancel()
        leaving.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def log_place(error: Exception) -> None:
    """Where it happened, but not its message, which may hold somebody's text."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    logger.error("%s at %s", type(error).__name__, place)
