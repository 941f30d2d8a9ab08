"""The text of a run: shards built once and found again, and a part of it held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import Mistake, listed
from polyseme.files import damage
from polyseme.pretrain.job import Job
from polyseme.text import shards, sources
from polyseme.text.corpus import find
from polyseme.text.piece_shards import PieceShards
from polyseme.text.shards import Shards
from polyseme.text.spellings import Types
from polyseme.train.report import Report

_PART_HELD_OUT, _MOST_HELD_OUT = 0.01, 100_000  # of the documents; words

_COUNTED = 1 << 22  # words at once
_NO_FLAGS = np.uint32(0)

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


def prepare(job: Job) -> Corpus:
    """Shards of the corpus in folder/corpus; what is held out comes from files of its own, or from the corpus's end."""
    whole = read(job, job.corpus, "corpus")
    facts: dict[str, Any] = {"corpus": recorded(whole)}
    if job.valid:
        held_out = read(job, job.valid, "valid")
        facts["valid"] = recorded(held_out)
        return Corpus(_sentences(whole, 0, None), _sentences(held_out, 0, None), whole, facts)
    first = first_held_out(whole.sentences, whole.documents)
    return Corpus(_sentences(whole, 0, first), _sentences(whole, first, None), whole, facts)


def read(job: Job, paths: Sequence[str], name: str) -> Shards:
    """All text of files as words, in the job's folder under this name."""
    folder = job.folder / name
    split, field, errors = job.reading["split"], job.reading["field"], job.reading["errors"]

    def build() -> Shards:
        return shards.build(paths, folder, split=split, field=field, errors=errors, on_progress=job.reading_on)

    found = found_or_built(job, paths, folder, shards.open, build)
    if n := found.meta.n_unknown:
        said = f"{n:,} of {found.meta.n_words:,} words are <unk>: {found.meta.n_types:,} others came before them."
        job.tell(Report("Reading", 1, 1, said=said))
    return found


def recorded(found: Shards) -> dict[str, Any]:
    """What text there is, for the record."""
    meta = found.meta
    parts = {"words": meta.n_words, "sentences": meta.n_sentences, "documents": meta.n_documents}
    unknown = {"unknown_words": meta.n_unknown} if meta.n_unknown else {}
    return {**parts, **unknown, "files": meta.sources}


def found_or_built(
    job: Job, paths: Sequence[str], folder: Path, open: Callable[[Path], Built], build: Callable[[], Built]
) -> Built:
    """Shards that are there already are used when their files are still the ones that were asked for."""
    if not folder.exists():
        return build()
    found = open(folder)
    refuse_changed(job, paths, found.meta.sources)
    if problem := damage(folder):
        raise Mistake(f"{folder} is damaged ({problem}). Delete it; the same command builds it again.")
    return found


def refuse_changed(job: Job, paths: Sequence[str], known: Sequence[dict[str, Any]]) -> None:
    """See that the files are still those that are known."""
    if not sources.same(find(paths), known, job.comparing):
        raise Mistake(f"The text in {', '.join(paths)} has changed since the run was begun. Choose another --out.")


def refuse_shared(corpus: Sequence[str], valid: Sequence[str]) -> None:
    """A text that is learned from says nothing when it is measured on."""
    if valid and (shared := sources.shared(find(valid), find(corpus))):
        raise Mistake(
            f"--valid is to be held out, and {listed(map(str, shared))} is in the corpus too. Take it out of one."
        )


def counted(ids: NDArray[np.uint32], n: int, flags: np.uint32 = _NO_FLAGS) -> NDArray[np.int64]:
    """(n,) how often each number comes, whatever its flags, a part of the text at a time."""
    counts, number = np.zeros(n, np.int64), ~flags
    for first in range(0, len(ids), _COUNTED):
        counts += np.bincount(ids[first : first + _COUNTED] & number, minlength=n)
    return counts


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


def part(
    whole: Shards | PieceShards, first: int, last: int | None
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """The ids, sentences and documents of the documents from first to last."""
    documents = whole.documents[first : None if last is None else last + 1]
    sentences = whole.sentences[documents[0] : documents[-1] + 1]
    return np.asarray(whole.ids[sentences[0] : sentences[-1]]), sentences - sentences[0], documents - documents[0]


def _sentences(whole: Shards, first: int, last: int | None) -> Sentences:
    return Sentences(*part(whole, first, last), whole.types)
