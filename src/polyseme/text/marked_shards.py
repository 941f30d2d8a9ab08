"""A corpus of words as memory-mapped ids of marked pieces: each word type is cut once, each word only looked up."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polyseme.text import arrays
from polyseme.text.chunks import in_order
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import BOS, UNK, marked_pieces, most_frequent
from polyseme.text.spellings import Types

_TYPES = 1 << 15  # cut at a time
_WORDS = 1 << 20  # looked up at a time


@dataclass(frozen=True, slots=True)
class MarkedTypes:
    """The pieces of each word type of a corpus."""

    pieces: list[str]  # the distinct ones
    numbers: NDArray[np.int64]  # of pieces, word type after word type
    offsets: NDArray[np.int64]  # (types + 1,)

    def vocabulary(self, counts: NDArray[np.int64], max_words: int, min_count: int) -> list[str]:
        """The special words, then the most frequent pieces; `counts` says how often each word type comes."""
        weights = np.repeat(counts, np.diff(self.offsets))
        found = np.bincount(self.numbers, weights, len(self.pieces)).astype(np.int64)  # exact below 2**53
        return most_frequent(dict(zip(self.pieces, found.tolist(), strict=True)), max_words, min_count)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Documents one after another, each xxbos and the pieces of its words."""

    ids: NDArray[np.uint32]  # (pieces,)
    documents: NDArray[np.int64]  # (documents + 1,) where each begins


def mark(types: Types, processes: int | None = None) -> MarkedTypes:
    """Cut word types into pieces; how many processes do it (None: one a core) changes nothing in the result."""
    known: dict[str, int] = {}
    numbers, lengths = [], []
    blocks = (types.between(start, start + _TYPES) for start in range(0, len(types), _TYPES))
    with closing(in_order(_cut, blocks, 1 if len(types) <= _TYPES else processes)) as work:
        for pieces, found, sizes in work:
            numbers.append(np.array([known.setdefault(piece, len(known)) for piece in pieces], np.int64)[found])
            lengths.append(sizes)
    return MarkedTypes(list(known), np.concatenate(numbers), _offsets(np.concatenate(lengths)))


def write(
    folder: Path,
    name: str,
    words: NDArray[np.uint32],  # a corpus, as numbers of word types
    documents: NDArray[np.int64],  # (documents + 1,) where each begins, in words
    marked: MarkedTypes,
    tokenizer: MarkedWords,
) -> None:
    """Write what `open` reads."""
    table = _Table.of(marked, tokenizer)
    n_before = 0
    with (
        arrays.Growing(folder / f"{name}_ids.npy", np.uint32) as ids,
        arrays.Growing(folder / f"{name}_documents.npy", np.int64) as starts,
    ):
        for rows, is_start in _blocks(words, documents):
            found, offsets = table.take(rows)
            ids.append(found)
            starts.append(n_before + offsets[:-1][is_start])
            n_before += len(found)
        starts.append(np.array([n_before]))


def open(folder: Path, name: str) -> Pieces:
    """The pieces that `write` wrote under this name, mapped into memory."""
    documents = arrays.mapped(folder / f"{name}_documents.npy", np.int64)
    return Pieces(arrays.mapped(folder / f"{name}_ids.npy", np.uint32, int(documents[-1])), documents)


def _cut(words: list[str]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct pieces of some words, the number of each word's pieces among them, and how many it has."""
    known: dict[str, int] = {}
    cut = [[known.setdefault(piece, len(known)) for piece in marked_pieces(word)] for word in words]
    numbers = [number for numbers in cut for number in numbers]
    return list(known), np.array(numbers, np.int64), np.array([len(numbers) for numbers in cut], np.int64)


def _blocks(
    words: NDArray[np.uint32], documents: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Rows of the table, some words at a time; row 0, xxbos, stands before each document."""
    for start in range(0, len(words), _WORDS):
        part = words[start : start + _WORDS].astype(np.int64) + 1
        first, last = np.searchsorted(documents[:-1], (start, start + len(part)))
        rows = np.insert(part, documents[first:last] - start, 0)
        yield rows, rows == 0


@dataclass(frozen=True, slots=True)
class _Table:
    """The ids of xxbos, then those of each word type."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, marked: MarkedTypes, tokenizer: MarkedWords) -> "_Table":
        known = np.array([tokenizer.ids.get(piece, tokenizer.ids[UNK]) for piece in marked.pieces], np.uint32)
        ids = np.concatenate([np.array([tokenizer.ids[BOS]], np.uint32), known[marked.numbers]])
        return cls(ids, np.concatenate([[0], marked.offsets + 1]))

    def take(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The ids of some rows one after another, and where each row begins."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        offsets = _offsets(lengths)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return self.ids[places], offsets


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
