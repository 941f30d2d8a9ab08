"""What a new BERT begins with instead of chance, so that it does not spend its first hours on what can be counted."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray

from polyseme.encoders.bert import Block
from polyseme.encoders.bert_heads import MaskedWords
from polyseme.pretrain.company import company
from polyseme.pretrain.corpus import counted
from polyseme.pretrain.job import Job
from polyseme.pretrain.masked_lm import MaskedLm
from polyseme.text.piece_shards import BEGINS

_NOISE = 0.1  # how much of the random weights is left where others take their place
_BRANCH = 0.2  # and in what else a block adds to its rows
_SEGMENT, _PLACE = 0.1, 0.3  # how much pieces' segments and places begin with, beside the pieces themselves
_NEIGHBOURS = 3.0  # how much the mean of a sequence's rows begins with, beside a row itself
_LINEAR = 2.5  # added before a gelu, which from there on is nearly a straight line


def expect_frequencies(model: MaskedLm, ids: NDArray[np.uint32]) -> None:
    """Begin with each piece's share of the text: learning that takes hundreds of steps, in which all rows come to be
    alike."""
    head = _head(model)
    counts = 1 + counted(ids, len(head.bias), BEGINS)
    with torch.no_grad():
        head.bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))


def expect_places(model: MaskedLm) -> None:
    """Begin with places as waves, of the spread they would have had at random.

    A step to the next place is then one turn for all of them: to attend to neighbours takes one thing to be learned,
    not one for each place.
    """
    weight, spread = model.encoder.embeddings.positions.weight, model.encoder.config.initializer_range
    n_places, width = weight.shape
    speeds = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(n_places).unsqueeze(1) * speeds  # (places, width / 2)
    with torch.no_grad():
        weight.copy_(torch.cat([angles.sin(), angles.cos()], 1)[:, :width] * (spread * math.sqrt(2)))


def expect_company(model: MaskedLm, ids: NDArray[np.uint32], longest: int, job: Job) -> None:
    """Begin as a bag of words: a masked piece is likely as its neighbours are pieces whose company it keeps.

    Pieces are the vectors of their company; the first block adds the mean of its sequence, all others little; the head
    hands on what it is given. This is where a BERT begun at random is after a thousand steps (docs/log.md).
    """
    encoder, head = model.encoder, _head(model)
    embeddings, spread = encoder.embeddings, encoder.config.initializer_range
    n_pieces, width = embeddings.words.weight.shape
    vectors, _ = company(ids, n_pieces, width, _piece, job.counting)
    known = vectors.any(1)  # [MASK] never comes and stays as it is
    with torch.no_grad():
        embeddings.words.weight[known] = vectors[known] * spread
        embeddings.segments.weight.mul_(_SEGMENT)
        places = embeddings.positions.weight
        places.sub_(places[:longest].mean(0))  # what all places share would make all rows alike
        places.mul_(_PLACE * spread / places[:longest].std())
        for block in encoder.stack:
            assert isinstance(block, Block)
            block.outer.weight.mul_(_BRANCH)
            block.attention.out.weight.mul_(_BRANCH)
        first = encoder.stack[0]
        assert isinstance(first, Block)
        first.attention.qkv.weight[2 * width :].mul_(_NOISE).add_(torch.eye(width))
        first.attention.out.weight.mul_(_NOISE).add_(torch.eye(width) * _NEIGHBOURS)
        head.dense.weight.mul_(_NOISE).add_(torch.eye(width))
        head.dense.bias.fill_(_LINEAR)


def _piece(ids: NDArray[np.uint32]) -> NDArray[np.int64]:
    return (ids & ~BEGINS).astype(np.int64)


def _head(model: MaskedLm) -> MaskedWords:
    assert model.heads.masked is not None
    return model.heads.masked
