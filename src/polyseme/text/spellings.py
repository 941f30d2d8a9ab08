"""Word types: numbered as they come, ranked by frequency at the end, spelled from a memory map."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyseme.errors import Mistake
from polyseme.text import arrays

UNKNOWN = "<unk>"  # no word of the splitter, which cuts it in three

_MOST_TYPES = 2**32 - 2  # what uint32 can number, and one unknown
_MOST_CHARACTERS = 100_000_000  # of all types together: a text without white space has long ones
_BLOCK = 1 << 16


class Numbering:
    """Gives each new word the next number, up to a limit; what comes later is one unknown type, number 0."""

    def __init__(self, max_types: int) -> None:
        if not 0 < max_types <= _MOST_TYPES:
            raise Mistake(f"max_types={max_types:,} is out of range; choose 1 to {_MOST_TYPES:,}.")
        self._max_types = max_types
        self._numbers: dict[str, int] = {}
        self._counts = np.zeros(_BLOCK, dtype=np.int64)
        self._n_characters = 0

    def number(self, words: list[str], counts: NDArray[np.integer]) -> NDArray[np.uint32]:
        """The numbers of distinct words, each of which is counted that many times more."""
        known = self._numbers.get
        numbers = np.array([known(word, -1) for word in words], dtype=np.int64)
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = self._add(words[place])
        while len(self._counts) <= len(self._numbers):
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        np.add.at(self._counts, numbers, counts)  # several may be the unknown one
        return numbers.astype(np.uint32)

    def write(self, folder: Path) -> tuple[NDArray[np.uint32], int]:
        """Write types and counts by rank; give the rank of each number, and how many words are unknown.

        More frequent types come first, equally frequent ones by their characters. The unknown type, where there is
        one, is last whatever its count, so that it is not among the V most frequent ones.
        """
        words = [UNKNOWN, *self._numbers]
        self._numbers.clear()
        by_spelling = np.array(sorted(range(1, len(words)), key=words.__getitem__), dtype=np.int64)
        order = by_spelling[np.argsort(-self._counts[by_spelling], kind="stable")]
        order = np.append(order, 0)
        ranks = np.empty(len(words), dtype=np.uint32)
        ranks[order] = np.arange(len(words))
        n_unknown = int(self._counts[0])
        order = order if n_unknown else order[:-1]
        arrays.write(folder / "counts.npy", self._counts[order])
        _write_spellings(folder, words, order)
        return ranks, n_unknown

    def _add(self, word: str) -> int:
        if len(self._numbers) == self._max_types or self._n_characters + len(word) > _MOST_CHARACTERS:
            return 0
        self._n_characters += len(word)
        self._numbers[word] = len(self._numbers) + 1
        return len(self._numbers)


@dataclass(frozen=True, slots=True)
class Types:
    """The word types of a corpus, most frequent first, decoded when they are asked for."""

    characters: NDArray[np.uint8]  # UTF-8, one type after another
    offsets: NDArray[np.int64]  # (types + 1,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:
        if not -len(self) <= number < len(self):
            raise IndexError(f"type {number} of {len(self)}")
        number %= len(self)
        return bytes(self.characters[self.offsets[number] : self.offsets[number + 1]]).decode()

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _BLOCK):
            yield from self.between(start, start + _BLOCK)

    def spelling(self, ids: ArrayLike) -> list[str]:
        """The words that have these ids, each distinct one decoded once."""
        distinct, places = np.unique(np.asarray(ids, dtype=np.int64), return_inverse=True)
        words = [self[number] for number in distinct.tolist()]
        return [words[place] for place in places.tolist()]

    def between(self, start: int, end: int) -> list[str]:
        """The types from start to end, or to the last."""
        offsets = self.offsets[start : end + 1]
        characters = bytes(self.characters[offsets[0] : offsets[-1]])
        places = (offsets - offsets[0]).tolist()
        return [characters[first:last].decode() for first, last in pairwise(places)]


def _write_spellings(folder: Path, words: list[str], order: NDArray[np.int64]) -> None:
    with (
        arrays.Growing(folder / "types.npy", np.uint8) as characters,
        arrays.Growing(folder / "type_offsets.npy", np.int64) as offsets,
    ):
        offsets.append(np.zeros(1, dtype=np.int64))
        for start in range(0, len(order), _BLOCK):
            spelled = [words[number].encode() for number in order[start : start + _BLOCK].tolist()]
            offsets.append(characters.n + np.cumsum([len(word) for word in spelled]))
            characters.append(np.frombuffer(b"".join(spelled), dtype=np.uint8))
