"""The text of a run: shards built once and found again, and a part of it held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import Mistake
from polyseme.files import damage, sha256
from polyseme.text import shards
from polyseme.text.corpus import find
from polyseme.text.piece_shards import PieceShards
from polyseme.text.shards import Shards
from polyseme.text.spellings import Types

_PART_HELD_OUT, _MOST_HELD_OUT = 0.01, 100_000  # of the documents; words

Tell = Callable[[int, int], None]
Built = TypeVar("Built", Shards, PieceShards)


@dataclass(frozen=True)
class Sentences:
    """Some whole documents of a corpus."""

    ids: NDArray[np.uint32]  # of word types, one sentence after another
    sentences: NDArray[np.int64]  # (sentences + 1,) where each begins
    documents: NDArray[np.int64]  # (documents + 1,) the first sentence of each
    types: Types


@dataclass(frozen=True)
class Corpus:
    """What is learned from and what is held out."""

    train: Sentences
    valid: Sentences
    shards: Shards  # all that is not in a file of its own that is held out
    facts: dict[str, Any]  # for the record


def prepare(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, reading: dict[str, str], tell: Tell | None = None
) -> Corpus:
    """Shards of the corpus in folder/corpus; what is held out comes from files of its own, or from the corpus's end."""
    whole = _shards(corpus, folder / "corpus", reading, tell)
    facts: dict[str, Any] = {"corpus": _facts(whole)}
    if valid:
        held_out = _shards(valid, folder / "valid", reading, None)
        return Corpus(_part(whole, 0, None), _part(held_out, 0, None), whole, {**facts, "valid": _facts(held_out)})
    first = first_held_out(whole.sentences, whole.documents)
    return Corpus(_part(whole, 0, first), _part(whole, first, None), whole, facts)


def _shards(paths: Sequence[str], folder: Path, reading: dict[str, str], tell: Tell | None) -> Shards:
    split, field, errors = reading["split"], reading["field"], reading["errors"]

    def build() -> Shards:
        return shards.build(paths, folder, split=split, field=field, errors=errors, on_progress=tell)

    return found_or_built(paths, folder, shards.open, build)


def found_or_built(
    paths: Sequence[str], folder: Path, open: Callable[[Path], Built], build: Callable[[], Built]
) -> Built:
    """Shards that are there already are used when their files are still the ones that were asked for."""
    if not folder.exists():
        return build()
    found = open(folder)
    wanted = [(path.as_posix(), sha256(path)) for path in find(paths)]
    if [(source["path"], source["sha256"]) for source in found.meta.sources] != wanted:
        raise Mistake(f"The text in {', '.join(paths)} has changed since the run was begun. Choose another --out.")
    if problem := damage(folder):
        raise Mistake(f"{folder} is damaged ({problem}). Delete it; the same command builds it again.")
    return found


def first_held_out(sentences: NDArray[np.int64], documents: NDArray[np.int64], least: int = 1) -> int:
    """The first document of the last hundredth, or of the last 100,000 words, whichever is less."""
    n_documents = len(documents) - 1
    if n_documents < 2 * least:
        raise Mistake(
            f"Documents in the corpus: {n_documents}, too few to hold some out. Part them by blank lines, or give "
            "other text with --valid."
        )
    begins = sentences[documents[:-1]]  # (documents,) in words
    first = max(n_documents - max(least, int(n_documents * _PART_HELD_OUT)), least)
    return max(first, min(n_documents - least, int(np.searchsorted(begins, sentences[-1] - _MOST_HELD_OUT))))


def _part(whole: Shards, first: int, last: int | None) -> Sentences:
    """The documents from first to last."""
    documents = whole.documents[first : None if last is None else last + 1]
    sentences = whole.sentences[documents[0] : documents[-1] + 1]
    return Sentences(
        whole.ids[sentences[0] : sentences[-1]], sentences - sentences[0], documents - documents[0], whole.types
    )


def _facts(found: Shards) -> dict[str, Any]:
    meta = found.meta
    return {"words": meta.n_words, "sentences": meta.n_sentences, "documents": meta.n_documents, "files": meta.sources}
