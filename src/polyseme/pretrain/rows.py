"""Text as rows read side by side: which word stands where at which step is arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polyseme.text.order import shuffled

Ids = NDArray[np.int64]
Shuffle = Literal["documents", "sentences", "none"]

BEGIN, END = 0, 1  # the markers of a sentence; word type t is t + 2

VALID_UNROLL = 64  # of text that is held out
_VALID_ROWS = 16
_VALID_PLACES = 2000  # a row, at the least: each begins without a state, amid a sentence


def n_valid_rows(n_words: int) -> int:
    """How many rows of held-out text are read side by side."""
    return min(_VALID_ROWS, max(1, n_words // _VALID_PLACES))


@dataclass(frozen=True)
class Window:
    """One step of both directions, (unroll, rows) each: what a row reads at a place, and what it should predict."""

    forward: Ids
    forward_targets: Ids
    backward: Ids
    backward_targets: Ids
    real: NDArray[np.bool_]  # False behind the end of the text


@dataclass(frozen=True, eq=False)
class Rows:
    """Sentences end to end, cut into rows of equal length.

    A sentence of n words is n + 1 places: forward it reads <S> w1 … wn and predicts w1 … wn </S>, backward it reads
    </S> wn … w1 and predicts wn … w1 <S>. State flows on from one sentence to the next.
    """

    ids: NDArray[np.uint32]  # of word types, one sentence after another
    sentences: Ids  # where each begins, and the end
    documents: Ids  # the first sentence of each, and the end
    n_rows: int
    unroll: int
    seed: int
    shuffle: Shuffle = "documents"
    whole: bool = False  # whether the last, shorter part of each row is read too

    @property
    def n_places(self) -> int:
        return len(self.ids) + len(self.sentences) - 1

    @property
    def row_length(self) -> int:
        return -(-self.n_places // self.n_rows) if self.whole else self.n_places // self.n_rows

    @property
    def steps_an_epoch(self) -> int:
        return -(-self.row_length // self.unroll) if self.whole else self.row_length // self.unroll

    def window(self, step: int) -> Window:
        """What is read at a step."""
        epoch, number = divmod(step, self.steps_an_epoch)
        order, starts = self._epoch(epoch)
        within_row = number * self.unroll + np.arange(self.unroll)
        places = within_row[:, None] + np.arange(self.n_rows) * self.row_length  # (unroll, rows)
        real = (within_row[:, None] < self.row_length) & (places < self.n_places)
        places = np.minimum(places, self.n_places - 1)
        rank = np.searchsorted(starts, places, side="right") - 1
        sentence = order[rank]
        first = self.sentences[sentence]
        return self._both_directions(places - starts[rank], first, self.sentences[sentence + 1] - first, real)

    def _both_directions(self, place: Ids, first: Ids, n_words: Ids, real: NDArray[np.bool_]) -> Window:
        """`place` counts from the begin of the sentence, which has n_words words from `first` on."""
        starts, ends = place == 0, place == n_words

        def words(at: Ids) -> Ids:
            types: Ids = self.ids[np.clip(first + at, 0, len(self.ids) - 1)].astype(np.int64) + 2
            return types

        return Window(
            forward=np.where(starts, BEGIN, words(place - 1)),
            forward_targets=np.where(ends, END, words(place)),
            backward=np.where(starts, END, words(n_words - place)),
            backward_targets=np.where(ends, BEGIN, words(n_words - 1 - place)),
            real=real,
        )

    @lru_cache(maxsize=2)  # noqa: B019 (two epochs' orders; lives and dies with the process's one or two streams)
    def _epoch(self, epoch: int) -> tuple[Ids, Ids]:
        """The sentences in the epoch's order, and the place where each begins."""
        order = self._order(epoch)
        lengths = np.diff(self.sentences)[order] + 1
        return order, np.concatenate([[0], lengths.cumsum()])[:-1]

    def _order(self, epoch: int) -> Ids:
        n_sentences = len(self.sentences) - 1
        if self.shuffle == "none":
            return np.arange(n_sentences)
        if self.shuffle == "sentences":
            return shuffled(np.arange(n_sentences), n_sentences, self.seed, epoch)
        n_documents = len(self.documents) - 1
        documents = shuffled(np.arange(n_documents), n_documents, self.seed, epoch)
        lengths = np.diff(self.documents)[documents]
        ends = lengths.cumsum()
        order: Ids = np.arange(n_sentences) + np.repeat(self.documents[documents] - (ends - lengths), lengths)
        return order
