"""Texts as one sequence of pieces each, cut where the model's room ends: what sentence vectors are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from polyseme.adapt.inputs import Inputs
from polyseme.errors import Mistake
from polyseme.text.wordpiece import WordPiece
from polyseme.types import Batch, Text

Side = Literal["left", "right"]  # where a long text is cut off
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Sequences:
    """Sequences that fit, and how many pieces each text has in truth, special ones included."""

    inputs: Inputs
    n_pieces: list[int]


def of_texts(tokenizer: WordPiece, texts: Sequence[str], window: int, side: Side = "right") -> Sequences:
    cut = tokenizer.cut([Text(text, ()) for text in texts])
    return _sequences(tokenizer, cut.ids, cut.lengths, window, side)


def of_ids(tokenizer: WordPiece, rows: Sequence[Sequence[int]], window: int, side: Side = "right") -> Sequences:
    """From ids of pieces; those that have [CLS] and [SEP] already do not get them twice."""
    n_ids, cls, sep = tokenizer.n_pieces, tokenizer.id_of("cls"), tokenizer.id_of("sep")
    inner = []
    for place, row in enumerate(rows):
        if wrong := [number for number in row if not 0 <= number < n_ids]:
            raise Mistake(f"Input {place} has the token {wrong[0]}; this model's are 0 to {n_ids - 1}. Send text.")
        inner.append(row[1:-1] if len(row) > 1 and row[0] == cls and row[-1] == sep else row)
    ids = np.array([number for row in inner for number in row], np.int64)
    return _sequences(tokenizer, ids, np.array([len(row) for row in inner], np.int64), window, side)


def _sequences(tokenizer: WordPiece, pieces: Integers, lengths: Integers, window: int, side: Side) -> Sequences:
    """[CLS], the pieces that are kept of each text, [SEP]; none of them belongs to a word."""
    kept = np.minimum(lengths, window - 2)
    starts = lengths.cumsum() - (lengths if side == "right" else kept)
    sizes = kept + 2
    ends = sizes.cumsum()
    ordinals = np.arange(kept.sum()) - (kept.cumsum() - kept).repeat(kept)
    ids = np.full(sizes.sum(), tokenizer.id_of("sep"), np.int64)
    ids[ends - sizes] = tokenizer.id_of("cls")
    ids[(ends - sizes + 1).repeat(kept) + ordinals] = pieces[starts.repeat(kept) + ordinals]
    n_texts = len(kept)
    batch = Batch(
        ids=torch.from_numpy(ids),
        offsets=torch.from_numpy(np.append(0, ends)),
        words=torch.full((len(ids),), -1),
        n_words=torch.zeros(n_texts, dtype=torch.long),
        texts=torch.arange(n_texts),
    )
    return Sequences(Inputs(batch, n_texts, 1), (lengths + 2).tolist())
