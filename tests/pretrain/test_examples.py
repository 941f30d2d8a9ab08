"""Sequences as BERT reads them."""

import numpy as np

from polyseme.pretrain.examples import read
from polyseme.pretrain.pairs import Sequences
from polyseme.text.piece_shards import BEGINS

PIECES = (np.arange(10, 30) | np.where(np.arange(20) % 2 == 0, BEGINS, 0)).astype(np.uint32)  # two pieces a word
CLS, SEP = 2, 3


def sequences(*rows):
    *parts, follows = map(np.array, zip(*rows, strict=True))
    return Sequences(*parts, follows)


def test_pairs_have_a_cls_two_seps_and_two_segments():
    found = read(PIECES, sequences((4, 3, 11, 2, False), (0, 1, 1, 1, True)), True, CLS, SEP)
    assert found.ids.tolist() == [CLS, 10, SEP, 11, SEP, CLS, 14, 15, 16, SEP, 21, 22, SEP]  # the shorter one first
    assert found.offsets.tolist() == [0, 5, 13]
    assert found.segments.tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1]
    assert found.special.tolist() == [piece in (CLS, SEP) for piece in found.ids]
    assert found.follows.tolist() == [True, False]
    # a word's second piece alone, as what is left of it, begins a word too
    assert np.flatnonzero(~found.begins).tolist() == [7]


def test_single_sequences_have_no_segments():
    found = read(PIECES, sequences((2, 3, 0, 0, False), (7, 1, 0, 0, False)), False, CLS, SEP)
    assert found.ids.tolist() == [CLS, 17, SEP, CLS, 12, 13, 14, SEP]
    assert found.segments is None
    assert found.sequence.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
