"""The words an encoder knows by number, most frequent first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import Mistake, listed
from polyseme.text import word_lists
from polyseme.text.shards import Shards

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Vocabulary:
    """Words and their ids: the special ones first, then the others by falling frequency.

    >>> vocabulary = Vocabulary(("<unk>", "the", "cat"), n_special=1, unknown="<unk>")
    >>> vocabulary.ids(["the", "dog"]).tolist()
    [1, 0]
    """

    words: tuple[str, ...]
    counts: tuple[int, ...] | None = None  # of every word; a special one that no text spells has 0
    n_special: int = 0
    unknown: str | None = None  # the special word that stands for all others

    def __post_init__(self) -> None:
        if not self.words:
            raise Mistake("A vocabulary wants at least one word; found none.")
        if len(self._numbers) != len(self.words):
            word = next(word for number, word in enumerate(self.words) if self._numbers[word] != number)
            first, last = self.words.index(word), self._numbers[word]
            raise Mistake(f"{word!r} is in the vocabulary twice, as {first} and as {last}. Take one of them out.")
        if self.unknown is not None and self.unknown not in self.words[: self.n_special]:
            special = listed(self.words[: self.n_special])
            raise Mistake(f"unknown={self.unknown!r} is none of the special words, which are: {special}.")
        if self.counts is not None and len(self.counts) != len(self.words):
            raise Mistake(f"A vocabulary wants a count a word; found {len(self.counts)} for {len(self.words)} words.")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    def ids(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The ids of words; those that are not in the vocabulary get the unknown word's."""
        words = list(words)
        ids = self._find(words)
        if ids.size and ids.min() < 0:
            strangers = [repr(word) for word in dict.fromkeys(words) if word not in self]
            raise Mistake(f"Not in the vocabulary, which has no unknown word: {listed(strangers)}. Leave them out.")
        return ids

    def ids_of_types(self, shards: Shards) -> NDArray[np.int64]:
        """This vocabulary's id of each word type of a corpus; -1 for an unknown one where there is no word for it.

        The words of a sentence are then `ids[shards.sentence(i)]`.
        """
        starts = range(0, len(shards.types), _BLOCK)
        return np.concatenate([self._find(shards.types.between(start, start + _BLOCK)) for start in starts])

    def write(self, path: Path) -> None:
        """Write one word a line; counts are not kept."""
        word_lists.write(path, self.words)

    @classmethod
    def read(cls, path: Path, n_special: int = 0, unknown: str | None = None) -> Self:
        """The vocabulary in a file of one word a line."""
        return cls(tuple(word_lists.read_distinct(path)), n_special=n_special, unknown=unknown)

    @classmethod
    def from_shards(
        cls,
        shards: Shards,
        size: int | None = None,
        min_count: int = 1,
        special: Sequence[str] = ("<unk>",),
        unknown: str | None = "<unk>",
    ) -> Self:
        """The most frequent words of a corpus, found `min_count` times or more; `size` counts the special words too."""
        if size is not None and size <= len(special):
            raise Mistake(f"size={size} leaves no word beside {len(special)} special ones. Choose a larger one.")
        counts = shards.counts[: shards.unknown]
        n = int(np.searchsorted(-counts, -min_count, side="right"))
        n = n if size is None else min(n, size)
        found = dict(zip(shards.types.between(0, n), counts[:n].tolist(), strict=True))
        # a text may spell a special word: it is one then, as it will be when the text is encoded
        words = [*special, *(word for word in found if word not in special)][:size]
        return cls(tuple(words), tuple(found.get(word, 0) for word in words), len(special), unknown)

    def _find(self, words: list[str]) -> NDArray[np.int64]:
        unknown = -1 if self.unknown is None else self._numbers[self.unknown]
        return np.array([self._numbers.get(word, unknown) for word in words], dtype=np.int64)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}
