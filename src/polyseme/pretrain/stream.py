"""Documents end to end as rows read side by side, in windows of lengths that are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from polyseme.text.marked_shards import Pieces
from polyseme.text.order import seed_for, shuffled

Ids = NDArray[np.int64]

_FULL, _SPREAD, _SHORTEST = 0.95, 5, 5  # how often a window is not of half the length; its spread; the least there is
_LENGTHS = 0x6C656E  # what the seed of the lengths has that no other seed has


@dataclass(frozen=True)
class Window:
    """One step, (rows, length) each: what a row reads at a place, and the piece behind it."""

    inputs: Ids
    targets: Ids
    real: NDArray[np.bool_]  # False behind the end of the text


@dataclass(frozen=True, eq=False)
class Stream:
    """Text to learn from: each epoch's documents in an order of their own, cut into rows of equal length.

    An epoch has as many steps as fit into a row by the mean length of a window, so that the number of steps is known
    before any length is drawn. What the draws come to differs by a few words, which are left out, or read twice:
    a row goes on where the next one begins.
    """

    text: Pieces
    n_rows: int
    bptt: int
    seed: int
    backward: bool = False  # every document is read from its end

    @property
    def row_length(self) -> int:
        return len(self.text.ids) // self.n_rows

    @cached_property
    def steps_an_epoch(self) -> int:
        return int(self.row_length / window_lengths(self.bptt, 10_000, 0, 0).mean())

    def length(self, step: int) -> int:
        """How many pieces a row reads at a step."""
        begins = self._begins(step // self.steps_an_epoch)
        number = step % self.steps_an_epoch
        return int(begins[number + 1] - begins[number])

    def window(self, step: int) -> Window:
        """What is read at a step."""
        epoch, number = divmod(step, self.steps_an_epoch)
        begin, end = self._begins(epoch)[number : number + 2]
        places = np.arange(begin, end + 1) + self.row_length * np.arange(self.n_rows)[:, None]  # (rows, length + 1)
        ids = _read(self.text, self._order(epoch), places % len(self.text.ids), self.backward)
        return Window(ids[:, :-1], ids[:, 1:], np.ones((self.n_rows, end - begin), dtype=np.bool_))

    @lru_cache(maxsize=2)  # noqa: B019 (two epochs' numbers; lives and dies with the process's one or two streams)
    def _begins(self, epoch: int) -> Ids:
        lengths = window_lengths(self.bptt, self.steps_an_epoch, self.seed, epoch)
        return np.concatenate([[0], lengths.cumsum()])

    @lru_cache(maxsize=2)  # noqa: B019 (the same)
    def _order(self, epoch: int) -> _Order:
        n_documents = len(self.text.documents) - 1
        return _Order.of(self.text, shuffled(np.arange(n_documents), n_documents, self.seed, epoch))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Text to measure on: in its own order, all of it once, in windows of one length."""

    text: Pieces
    n_rows: int
    unroll: int
    backward: bool = False

    @property
    def row_length(self) -> int:
        return -(-(len(self.text.ids) - 1) // self.n_rows)

    @property
    def n_steps(self) -> int:
        return -(-self.row_length // self.unroll)

    def window(self, step: int) -> Window:
        within = step * self.unroll + np.arange(self.unroll + 1)
        places = within + self.row_length * np.arange(self.n_rows)[:, None]  # (rows, unroll + 1)
        last = len(self.text.ids) - 1
        ids = _read(self.text, self._order, np.minimum(places, last), self.backward)
        return Window(ids[:, :-1], ids[:, 1:], (within[1:] <= self.row_length) & (places[:, 1:] <= last))

    @cached_property
    def _order(self) -> _Order:
        return _Order.of(self.text, np.arange(len(self.text.documents) - 1))


def window_lengths(bptt: int, n: int, seed: int, epoch: int) -> Ids:
    """The lengths of an epoch's windows (Merity et al. 2017): around bptt, one in twenty around half of it."""
    draw = np.random.default_rng(seed_for(seed, epoch, _LENGTHS))
    around = np.where(draw.random(n) < _FULL, bptt, bptt / 2)
    return np.maximum(_SHORTEST, draw.normal(around, _SPREAD)).astype(np.int64)


@dataclass(frozen=True)
class _Order:
    """Documents in some order, and the place where each begins then."""

    documents: Ids
    starts: Ids

    @classmethod
    def of(cls, text: Pieces, documents: Ids) -> _Order:
        lengths = np.diff(text.documents)[documents]
        return cls(documents, lengths.cumsum() - lengths)


def _read(text: Pieces, order: _Order, places: Ids, backward: bool) -> Ids:
    """The pieces at places of the text in some order of its documents, each read from its begin or from its end."""
    rank = np.searchsorted(order.starts, places, side="right") - 1
    document, within = order.documents[rank], places - order.starts[rank]
    first, end = text.documents[document], text.documents[document + 1]
    ids: Ids = text.ids[end - 1 - within if backward else first + within].astype(np.int64)
    return ids
