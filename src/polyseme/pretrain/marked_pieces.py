"""The text of a run as marked pieces: made once, and found again when the run goes on."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polyseme.files import damage, new_folder
from polyseme.pretrain.corpus import Corpus
from polyseme.text import marked_shards
from polyseme.text.marked import MarkedWords
from polyseme.text.marked_shards import Pieces


@dataclass(frozen=True)
class MarkedText:
    """What is learned from and what is held out, as numbers of these words."""

    words: tuple[str, ...]
    train: Pieces
    valid: Pieces


def prepare(corpus: Corpus, folder: Path, known: Sequence[str], max_words: int, min_count: int) -> MarkedText:
    """The words are those that are known already, if any, and then the most frequent ones of the text."""
    place = folder / "pieces"
    if damage(place) is not None:
        shutil.rmtree(place, ignore_errors=True)
        _build(corpus, place, known, max_words, min_count)
    words = MarkedWords.read(place).words
    return MarkedText(words, marked_shards.open(place, "train"), marked_shards.open(place, "valid"))


def _build(corpus: Corpus, place: Path, known: Sequence[str], max_words: int, min_count: int) -> None:
    marked = marked_shards.mark(corpus.train.types)
    own = marked.vocabulary(corpus.shards.counts, max_words, min_count)
    there = set(known)
    tokenizer = MarkedWords([*known, *(word for word in own if word not in there)])
    with new_folder(place) as temporary:
        tokenizer.write(temporary)
        for name, part in (("train", corpus.train), ("valid", corpus.valid)):
            cut = marked if part.types is corpus.train.types else marked_shards.mark(part.types)
            documents = part.sentences[part.documents]
            marked_shards.write(temporary, name, part.ids, documents, cut, tokenizer)
