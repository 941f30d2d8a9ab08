"""A corpus as memory-mapped pieces of words, cut once by a tokenizer that is kept beside them."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import BadFile, Mistake, listed
from polyseme.files import new_folder
from polyseme.text import arrays, meta, sources
from polyseme.text.chunks import Chunk, chunks, in_order
from polyseme.text.corpus import find, passages
from polyseme.text.rows import Rows, RowWriter
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import sentence_ends, to_text
from polyseme.types import Text

VERSION = 1
BEGINS = np.uint32(1 << 31)  # set where a piece is the first of its word; the other bits are the piece

_SPLITS = ("rules", "spaces")


@dataclass(frozen=True, slots=True)
class Meta:
    """What is in a folder of pieces, and where it came from."""

    version: int
    n_pieces: int
    n_words: int  # those that have a piece
    n_sentences: int
    n_documents: int
    n_bytes: int  # of text, in UTF-8, without line ends
    rules: int  # of the splitter
    unicode: str  # whose tables the rules use
    options: dict[str, Any]
    sources: list[dict[str, Any]]  # path, size, sha256


@dataclass(frozen=True, slots=True)
class PieceShards:
    """A corpus on disk as a tokenizer cuts it, without special pieces."""

    folder: Path
    meta: Meta
    tokenizer: WordPiece
    ids: NDArray[np.uint32]  # (pieces,) with BEGINS
    sentences: NDArray[np.int64]  # (sentences + 1,) where each begins, in ids
    documents: NDArray[np.int64]  # (documents + 1,) where each begins, in sentences


def build(
    paths: str | Path | Iterable[str | Path],
    folder: Path,
    tokenizer: WordPiece,
    *,
    layout: str = "auto",
    field: str = "text",
    errors: str = "strict",
    split: str = "rules",
    processes: int | None = None,
    chunk_characters: int = 300_000,
    on_progress: Callable[[int, int], None] | None = None,
    force: bool = False,
) -> PieceShards:
    """Cut the text of files into pieces, once, and write them as shards; see `shards.build` for the options."""
    if split not in _SPLITS:
        raise Mistake(f"split={split!r} is not known. Use {' or '.join(map(repr, _SPLITS))}.")
    files = find(paths)
    before = sources.look(files)
    n_total = sum(size for size, _ in before)
    reading = {"layout": layout, "field": field, "errors": errors}
    found = chunks(files, lambda path, on_read: passages(path, **reading, on_read=on_read), chunk_characters)
    n_words = 0
    with new_folder(folder, force=force) as temporary, _fork_in_peace():
        tokenizer.write(temporary)
        work = in_order(partial(_pieces_of, temporary, split), found, processes)
        with RowWriter(temporary) as writer, closing(work):
            for rows in work:
                writer.append(rows)
                n_words += int(np.count_nonzero(rows.ids & BEGINS))
                if on_progress is not None:
                    on_progress(rows.n_read, n_total)
        if not writer.n_ids:
            raise Mistake(f"No word in {listed(map(str, files))}. Name files with text in them.")
        facts = meta.common(writer, {**reading, "split": split}, sources.unchanged(files, before))
        meta.write(temporary, Meta(VERSION, writer.n_ids, n_words, **facts))
    return open(folder)


def open(folder: Path) -> PieceShards:
    """The shards in a folder, mapped into memory; sizes and types of all files are checked first."""
    try:
        found = meta.read(folder, Meta, VERSION, ("pieces", "words", "sentences", "documents"))
        return PieceShards(
            folder=folder,
            meta=found,
            tokenizer=WordPiece.read(folder),
            ids=arrays.mapped(folder / "ids.npy", np.uint32, found.n_pieces),
            sentences=arrays.offsets(folder / "sentences.npy", found.n_sentences, found.n_pieces),
            documents=arrays.offsets(folder / "documents.npy", found.n_documents, found.n_sentences),
        )
    except BadFile as error:
        raise BadFile(f"{error} Build the shards again.") from None


def _pieces_of(folder: Path, split: str, chunk: Chunk) -> Rows:
    """The rows of a chunk; the tokenizer is read once a process, not sent with every chunk."""
    texts = [to_text(string if split == "rules" else string.split()) for string in chunk.strings]
    ends = [sentence_ends(text.words) if split == "rules" else _at_end(text) for text in texts]
    ids, words = _marked(_tokenizer(folder), texts)
    n_words = np.array([0, *(len(text.spans) for text in texts)]).cumsum()
    last_words = np.array([base + end for base, found in zip(n_words.tolist(), ends, strict=False) for end in found])
    sentences = np.searchsorted(words, last_words)
    kept = np.diff(sentences, prepend=0) > 0  # a sentence without pieces is none
    n_kept = np.append(0, kept.cumsum())[np.array([0, *map(len, ends)]).cumsum()]  # behind each string
    return Rows(
        ids=ids,
        sentence_ends=sentences[kept].astype(np.int64),
        document_ends=n_kept[chunk.document_ends].astype(np.int64),
        n_bytes=sum(len(string) if string.isascii() else len(string.encode()) for string in chunk.strings),
        n_read=chunk.n_read,
    )


@lru_cache(maxsize=1)
def _tokenizer(folder: Path) -> WordPiece:
    """In a corpus [MASK] is text like any other: nothing in it can stand for a special piece."""
    tokenizer = WordPiece.read(folder)
    tokenizer.backend.encode_special_tokens = True
    return tokenizer


def _at_end(text: Text) -> list[int]:
    return [len(text.spans)] if text.spans else []


def _marked(tokenizer: WordPiece, texts: list[Text]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The pieces of all words with BEGINS, and each one's word, counted through all texts."""
    cut = tokenizer.cut(texts)
    words = cut.words + (cut.n_words.cumsum() - cut.n_words).repeat(cut.lengths)
    inside = cut.words >= 0
    ids, words = cut.ids[inside].astype(np.uint32), words[inside]
    ids[np.diff(words, prepend=-1) > 0] |= BEGINS
    return ids, words


@contextmanager
def _fork_in_peace() -> Iterator[None]:
    """tokenizers, whose threads do not outlive a fork, warns in every worker unless it was told to use none."""
    name = "TOKENIZERS_PARALLELISM"
    before = os.environ.get(name)
    os.environ[name] = "false"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
