"""Sequences of a corpus's pieces as BERT reads them: [CLS] first [SEP], or [CLS] first [SEP] second [SEP]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyseme.pretrain.pairs import Ids, Sequences
from polyseme.text.piece_shards import BEGINS

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Examples:
    """Sequences end to end, shorter ones first, so that those of equal length stand together."""

    ids: Ids  # (positions,)
    offsets: Ids  # (sequences + 1,)
    begins: Flags  # (positions,) where a word begins; a special piece, and what is cut off from its word, begin one too
    special: Flags  # (positions,)
    segments: Ids | None  # (positions,) 0 for the first part and 1 for the second
    follows: Flags  # (sequences,)

    @property
    def lengths(self) -> Ids:
        return np.diff(self.offsets)

    @property
    def sequence(self) -> Ids:
        """(positions,) which sequence each belongs to."""
        return np.arange(len(self.offsets) - 1).repeat(self.lengths)


def read(pieces: NDArray[np.uint32], sequences: Sequences, pairs: bool, cls: int, sep: int) -> Examples:
    """The pieces of these sequences with special ones between them."""
    sequences = sequences[np.argsort(sequences.n_pieces, kind="stable")]
    starts, counts = _parts(sequences, pairs)
    sizes = counts + 1  # each part has its [SEP]; the first of a sequence comes behind [CLS]
    sizes[:: 2 if pairs else 1] += 1
    ends = sizes.cumsum()
    special = np.zeros(ends[-1], np.bool_)
    firsts = (ends - sizes)[:: 2 if pairs else 1]
    special[firsts] = special[ends - 1] = True
    found = pieces[np.repeat(starts - (counts.cumsum() - counts), counts) + np.arange(counts.sum())]
    ids = np.full(ends[-1], sep)
    ids[firsts] = cls
    ids[~special] = found & ~BEGINS
    begins = special | np.append(True, special[:-1])
    begins[~special] |= (found & BEGINS) > 0
    return Examples(
        ids=ids,
        offsets=np.append(0, ends[1::2] if pairs else ends),
        begins=begins,
        special=special,
        segments=(np.arange(len(sizes)) % 2).repeat(sizes) if pairs else None,
        follows=sequences.follows,
    )


def _parts(sequences: Sequences, pairs: bool) -> tuple[Ids, Ids]:
    """Where each part begins and how many pieces it has, the parts of a pair one after another."""
    if not pairs:
        return sequences.first, sequences.n_first
    starts = np.stack([sequences.first, sequences.second], 1).ravel()
    return starts, np.stack([sequences.n_first, sequences.n_second], 1).ravel()
