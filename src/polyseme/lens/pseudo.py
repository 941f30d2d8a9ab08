"""Pseudo-log-likelihood (Salazar et al. 2020): how well BERT finds each piece of a text from all the others."""

from dataclasses import replace

import torch
from torch import Tensor

from polyseme.encoders import Pretrained
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_heads import BertHeads
from polyseme.layers.softmax import losses
from polyseme.lens.ways import mask_of
from polyseme.text.batches import groups, take
from polyseme.text.wordpiece import WordPiece
from polyseme.types import Batch

_BUDGET = 4096  # positions a batch


def pseudo_losses(pretrained: Pretrained, whole: Batch, within_word: bool = False) -> tuple[Tensor, Tensor]:
    """The positions that count, and the loss of each when it alone is masked.

    With `within_word` the later pieces of its word are masked too (PLL-word-l2r of Kauf & Ivanova 2023), since
    "##ard" gives "liz" away. Words are BERT's own here: a piece and the ## pieces behind it.
    """
    encoder, heads, tokenizer = pretrained.encoder, pretrained.lm, pretrained.tokenizer
    assert isinstance(encoder, BertEncoder)
    assert isinstance(heads, BertHeads)
    assert isinstance(tokenizer, WordPiece)
    mask, table = mask_of(tokenizer, "score text"), encoder.embeddings.words.weight
    continuing = tokenizer.continuing() if within_word else None
    positions = _counted(whole)
    sequences = torch.searchsorted(whole.offsets, positions, right=True) - 1
    found = torch.zeros(len(positions))
    for group in groups(whole.lengths[sequences], _BUDGET):  # copies of a sentence share one run of attention
        copies = take(whole, sequences[group])
        places = copies.offsets[:-1] + positions[group] - whole.offsets[sequences[group]]
        ids = copies.ids.index_fill(0, places, mask)
        if continuing is not None:
            ids[_later(copies, places, continuing)] = mask
        top = encoder(replace(copies, ids=ids)).layers[-1][places]  # (copies, width)
        found[group] = losses(lambda rows: heads.masked_words(rows, table), top, copies.ids[places])
    return positions, found


def _counted(whole: Batch) -> Tensor:
    """The positions of all pieces but [CLS] and [SEP]; one that windows share counts in that which owns it."""
    counted = torch.ones(len(whole.ids), dtype=torch.bool) if whole.owned is None else whole.owned.clone()
    counted[whole.offsets[:-1]] = False
    counted[whole.offsets[1:] - 1] = False
    return counted.nonzero().flatten()


def _later(copies: Batch, places: Tensor, continuing: Tensor) -> Tensor:
    """Which positions are behind the place in their sequence, and of its word."""
    words = (~continuing[copies.ids]).cumsum(0)  # [CLS] begins one, so that none goes on over two sequences
    of_copy = torch.arange(len(places)).repeat_interleave(copies.lengths)
    return (words == words[places][of_copy]) & (torch.arange(len(words)) > places[of_copy])
