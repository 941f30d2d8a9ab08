"""The values that travel from a string to a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

State: TypeAlias = "tuple[Tensor, ...]"  # what a recurrent encoder remembers; its family knows the order


@dataclass(frozen=True, slots=True)
class Text:
    """A string and the words people see in it: `string[start:end]` is the word, for each span."""

    string: str
    spans: tuple[tuple[int, int], ...]

    @property
    def words(self) -> list[str]:
        return [self.string[start:end] for start, end in self.spans]


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows of unequal length end to end: row i is `values[offsets[i]:offsets[i + 1]]`."""

    values: Tensor
    offsets: Tensor  # (rows + 1,)


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences of pieces end to end, without padding: what an encoder reads.

    A text is one sequence, or several where it is longer than the encoder's window: then each of its words is
    owned by exactly one of them, in order, and the pieces that are only there as context belong to no word.
    """

    ids: Tensor  # (positions,) the piece at each position
    offsets: Tensor  # (sequences + 1,) where each sequence begins
    words: Tensor  # (positions,) which of its sequence's words a piece belongs to; -1 for none
    n_words: Tensor  # (sequences,) how many words each sequence owns, those without any piece included
    texts: Tensor  # (sequences,) which text each sequence comes from, never falling
    segments: Tensor | None = None  # (positions,) 0 for the first text of a pair, 1 for the second
    spellings: Packed | None = None  # where ids number the distinct pieces of this batch: what each is made of
    owned: Tensor | None = None  # (positions,) whether a piece is this sequence's own; None where no two share one
    starts: Tensor | None = None  # (sequences,) the place at which each begins, where that is not the first

    @property
    def n_sequences(self) -> int:
        return len(self.n_words)

    @property
    def lengths(self) -> Tensor:
        """Positions of each sequence."""
        return self.offsets.diff()


@dataclass(frozen=True, slots=True)
class Encoding:
    """All layers of an encoder, bottom first; layer 0 does not depend on the context."""

    layers: tuple[Tensor, ...]  # each (rows, width); a tuple, since widths may differ
    offsets: Tensor  # (sequences + 1,) where each sequence's rows begin
    state: State | None = None  # after the last position, where there is one


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a fitted model says of one text."""

    label: Any  # a class, a number, a tag a word, or a (start, end) span of characters
    scores: dict[str, float] | None = None  # a probability a class, where there are classes


def mirrored(offsets: Tensor) -> Tensor:
    """(rows,) the row that takes each row's place when every sequence is read from its end; its own inverse.

    >>> import torch
    >>> mirrored(torch.tensor([0, 3, 3, 5])).tolist()
    [2, 1, 0, 4, 3]
    """
    ends = (offsets[:-1] + offsets[1:] - 1).repeat_interleave(offsets.diff())
    return ends + 1 - ends.new_ones(len(ends)).cumsum(0)
