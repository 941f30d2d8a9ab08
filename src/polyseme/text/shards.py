"""A corpus as memory-mapped word ids, sentences and documents."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import BadFile, Mistake, listed
from polyseme.files import new_folder
from polyseme.text import arrays, meta, sources
from polyseme.text.chunks import Chunk, chunks, in_order
from polyseme.text.corpus import find, passages
from polyseme.text.rows import Rows, RowWriter, rows_of
from polyseme.text.spellings import Numbering, Types
from polyseme.text.words import sentence_ends, words_in

VERSION = 1
_PROVISIONAL = "ids.provisional.npy"


@dataclass(frozen=True, slots=True)
class Meta:
    """What is in a folder of shards, and where it came from."""

    version: int
    n_words: int
    n_sentences: int
    n_documents: int
    n_types: int  # the unknown type included
    n_unknown: int  # words that came when there were max_types already; then the last type stands for them
    n_bytes: int  # of text, in UTF-8, without line ends
    rules: int  # of the splitter
    unicode: str  # whose tables the rules use
    options: dict[str, Any]
    sources: list[dict[str, Any]]  # path, size, sha256


@dataclass(frozen=True, slots=True)
class Shards:
    """A corpus on disk. An id is a word type's rank by frequency, so the V most frequent words are those below V."""

    folder: Path
    meta: Meta
    ids: NDArray[np.uint32]  # (words,)
    sentences: NDArray[np.int64]  # (sentences + 1,) where each begins, in ids
    documents: NDArray[np.int64]  # (documents + 1,) where each begins, in sentences
    counts: NDArray[np.int64]  # (types,)
    types: Types

    @property
    def unknown(self) -> int | None:
        """The id of words that are no type of their own, where there are any."""
        return self.meta.n_types - 1 if self.meta.n_unknown else None

    def sentence(self, i: int) -> NDArray[np.uint32]:
        """The ids of a sentence."""
        return self.ids[self.sentences[i] : self.sentences[i + 1]]

    def words(self, i: int) -> list[str]:
        """The words of a sentence."""
        return self.types.spelling(self.sentence(i))

    def document(self, i: int) -> range:
        """The sentences of a document."""
        return range(int(self.documents[i]), int(self.documents[i + 1]))


def build(
    paths: str | Path | Iterable[str | Path],
    folder: Path,
    *,
    layout: str = "auto",
    field: str = "text",
    errors: str = "strict",
    split: str = "rules",
    max_types: int = 3_000_000,
    processes: int | None = None,
    chunk_characters: int = 1_000_000,
    on_progress: Callable[[int, int], None] | None = None,
    force: bool = False,
) -> Shards:
    """Split the text of files into words and sentences, once, and write them as shards.

    split="spaces" is for text that is words with spaces between them already; then a line is a sentence.
    How many processes split (None: one a core) and how much each gets at a time change nothing in the result.
    `on_progress` hears how many bytes on disk are done, and of how many. See `corpus.passages` for the first options.
    """
    if split not in _SPLITTERS:
        raise Mistake(
            f"split={split!r} is not known. Use 'rules', or 'spaces' for text that is split into words already."
        )
    files = find(paths)
    before = sources.look(files)
    n_total = sum(size for size, _ in before)
    reading = {"layout": layout, "field": field, "errors": errors}
    numbering = Numbering(max_types)
    found = chunks(files, lambda path, on_read: passages(path, **reading, on_read=on_read), chunk_characters)
    with new_folder(folder, force=force) as temporary:
        work = in_order(_SPLITTERS[split], found, processes)
        with RowWriter(temporary, ids=_PROVISIONAL) as writer, closing(work):
            for rows, words in work:
                numbers = numbering.number(words, np.bincount(rows.ids, minlength=len(words)))
                writer.append(replace(rows, ids=numbers[rows.ids]))
                if on_progress is not None:
                    on_progress(rows.n_read, n_total)
        if not writer.n_ids:
            raise Mistake(f"No word in {listed(map(str, files))}. Name files with text in them.")
        ranks, n_unknown = numbering.write(temporary)
        _rank(temporary, ranks)
        n_types = len(ranks) if n_unknown else len(ranks) - 1
        options = {**reading, "split": split, "max_types": max_types}
        facts = meta.common(writer, options, sources.unchanged(files, before))
        meta.write(temporary, Meta(VERSION, writer.n_ids, n_types=n_types, n_unknown=n_unknown, **facts))
    return open(folder)


def open(folder: Path) -> Shards:
    """The shards in a folder, mapped into memory; sizes and types of all files are checked first."""
    try:
        found = meta.read(folder, Meta, VERSION, ("words", "sentences", "documents", "types"))
        sentences = arrays.offsets(folder / "sentences.npy", found.n_sentences, found.n_words)
        documents = arrays.offsets(folder / "documents.npy", found.n_documents, found.n_sentences)
        type_offsets = arrays.offsets(folder / "type_offsets.npy", found.n_types)
        return Shards(
            folder=folder,
            meta=found,
            ids=arrays.mapped(folder / "ids.npy", np.uint32, found.n_words),
            sentences=sentences,
            documents=documents,
            counts=arrays.mapped(folder / "counts.npy", np.int64, found.n_types),
            types=Types(arrays.mapped(folder / "types.npy", np.uint8, int(type_offsets[-1])), type_offsets),
        )
    except BadFile as error:
        raise BadFile(f"{error} Build the shards again.") from None


def _by_rules(chunk: Chunk) -> tuple[Rows, list[str]]:
    return _numbered(chunk, words_in, sentence_ends)


def _at_spaces(chunk: Chunk) -> tuple[Rows, list[str]]:
    return _numbered(chunk, str.split, lambda words: [len(words)] if words else [])


_SPLITTERS = {"rules": _by_rules, "spaces": _at_spaces}


def _numbered(
    chunk: Chunk, words_of: Callable[[str], list[str]], ends_of: Callable[[list[str]], list[int]]
) -> tuple[Rows, list[str]]:
    """The words of a chunk, numbered in the order they first come in, and those words."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)

    def encode(string: str) -> tuple[list[int], list[int]]:
        words = words_of(string)
        return [numbers[word] for word in words], ends_of(words)

    return rows_of(chunk, encode), list(numbers)


def _rank(folder: Path, ranks: NDArray[np.uint32]) -> None:
    """Turn provisional ids, which number words as they came, into ranks."""
    with arrays.Growing(folder / "ids.npy", np.uint32) as ids:
        for block in arrays.blocks(folder / _PROVISIONAL, np.uint32):
            ids.append(ranks[block])
    (folder / _PROVISIONAL).unlink()
