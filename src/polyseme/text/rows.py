"""Sentences and documents as rows of ids, and the files they are written to chunk by chunk."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from polyseme.text.arrays import Growing
from polyseme.text.chunks import Chunk


@dataclass(frozen=True, slots=True)
class Rows:
    """What a chunk becomes: ids one after another, and where its sentences and documents end."""

    ids: NDArray[np.uint32]
    sentence_ends: NDArray[np.int64]  # in ids
    document_ends: NDArray[np.int64]  # in sentences
    n_bytes: int  # of text, in UTF-8
    n_read: int  # see Chunk


def rows_of(chunk: Chunk, encode: Callable[[str], tuple[Sequence[int], Sequence[int]]]) -> Rows:
    """Rows from strings: `encode` gives the ids of one, and behind how many of them each sentence ends."""
    ids: list[int] = []
    sentence_ends: list[int] = []
    n_sentences = [0]  # behind each string
    for string in chunk.strings:
        found, ends = encode(string)
        sentence_ends += [len(ids) + end for end in ends]
        ids += found
        n_sentences.append(len(sentence_ends))
    return Rows(
        ids=np.array(ids, dtype=np.uint32),
        sentence_ends=np.array(sentence_ends, dtype=np.int64),
        document_ends=np.array([n_sentences[end] for end in chunk.document_ends], dtype=np.int64),
        n_bytes=sum(len(string) if string.isascii() else len(string.encode()) for string in chunk.strings),
        n_read=chunk.n_read,
    )


class RowWriter:
    """Appends rows to ids, sentences.npy and documents.npy; the last two are offsets, from 0 to the end."""

    def __init__(self, folder: Path, ids: str = "ids.npy") -> None:
        self.n_ids = self.n_sentences = self.n_documents = self.n_bytes = 0
        self._in_documents = 0  # sentences that lie in a document which has ended
        self._files = ExitStack()
        self._ids, self._sentences, self._documents = (
            self._files.enter_context(Growing(folder / name, dtype))
            for name, dtype in ((ids, np.uint32), ("sentences.npy", np.int64), ("documents.npy", np.int64))
        )

    def append(self, rows: Rows) -> None:
        self._ids.append(rows.ids)
        self._sentences.append(self.n_ids + rows.sentence_ends)
        ends = self.n_sentences + rows.document_ends
        ends = ends[np.diff(ends, prepend=self._in_documents) > 0]  # a document without words is none
        self._documents.append(ends)
        self.n_ids += len(rows.ids)
        self.n_sentences += len(rows.sentence_ends)
        self.n_documents += len(ends)
        self.n_bytes += rows.n_bytes
        self._in_documents = int(ends[-1]) if len(ends) else self._in_documents

    def __enter__(self) -> Self:
        for file in (self._sentences, self._documents):
            file.append(np.zeros(1, dtype=np.int64))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.__exit__(kind, error, trace)
