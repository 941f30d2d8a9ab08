"""The text of a run as pieces: cut once and found again, with a part of it held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import Mistake
from polyseme.pretrain.corpus import first_held_out, found_or_built, part
from polyseme.pretrain.job import Job
from polyseme.text import piece_shards
from polyseme.text.piece_shards import PieceShards
from polyseme.text.wordpiece import WordPiece


@dataclass(frozen=True)
class Pieces:
    """Some whole documents of a corpus."""

    ids: NDArray[np.uint32]  # one sentence after another, with BEGINS
    sentences: NDArray[np.int64]  # (sentences + 1,) where each begins
    documents: NDArray[np.int64]  # (documents + 1,) the first sentence of each


@dataclass(frozen=True)
class PieceCorpus:
    """What is learned from and what is held out."""

    tokenizer: WordPiece
    train: Pieces
    valid: Pieces
    words_a_piece: float
    facts: dict[str, Any]  # for the record


def prepare(job: Job, tokenizer: Callable[[], WordPiece], least: int) -> PieceCorpus:
    """Pieces of the corpus in folder/corpus. At least that many documents are held out, from files of their own or
    from the corpus's end. `tokenizer` is asked for one only where the corpus is not cut yet."""
    whole = _shards(job, job.corpus, "corpus", tokenizer)
    facts: dict[str, Any] = {"corpus": _facts(whole)}
    words_a_piece = whole.meta.n_words / whole.meta.n_pieces
    if job.valid:
        held_out = _shards(job, job.valid, "valid", lambda: whole.tokenizer)
        _check_held_out(held_out, least)
        facts["valid"] = _facts(held_out)
        return PieceCorpus(whole.tokenizer, _pieces(whole, 0, None), _pieces(held_out, 0, None), words_a_piece, facts)
    first = first_held_out(whole.sentences, whole.documents, least)
    return PieceCorpus(whole.tokenizer, _pieces(whole, 0, first), _pieces(whole, first, None), words_a_piece, facts)


def _shards(job: Job, paths: Sequence[str], name: str, tokenizer: Callable[[], WordPiece]) -> PieceShards:
    folder = job.folder / name
    reading = job.reading

    def build() -> PieceShards:
        return piece_shards.build(
            paths, folder, tokenizer(), split=reading["split"], field=reading["field"], errors=reading["errors"],
            on_progress=job.reading_on,
        )  # fmt: skip

    return found_or_built(job, paths, folder, piece_shards.open, build)


def _check_held_out(found: PieceShards, least: int) -> None:
    if found.meta.n_documents < least:
        raise Mistake(
            f"Documents in --valid: {found.meta.n_documents}; pairs of sentences that do not belong together come from "
            f"{least}. Part them by blank lines, or leave pairs out with --set adjacent=false."
        )


def _pieces(whole: PieceShards, first: int, last: int | None) -> Pieces:
    return Pieces(*part(whole, first, last))


def _facts(found: PieceShards) -> dict[str, Any]:
    meta = found.meta
    numbers = {"words": meta.n_words, "pieces": meta.n_pieces}
    return {**numbers, "sentences": meta.n_sentences, "documents": meta.n_documents, "files": meta.sources}
