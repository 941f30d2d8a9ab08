"""Which families can do a thing with their language model, and what to say of the others."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import BidirectionalAwdLstm
from polyseme.encoders.awd_pair import apart
from polyseme.encoders.bert_heads import BertHeads
from polyseme.encoders.workers import evaluating
from polyseme.errors import Mistake, listed
from polyseme.text.marked import MarkedWords
from polyseme.text.wordpiece import WordPiece

Way = TypeVar("Way")

_ABSENT = {  # why a model of each family may come without its output layer, and what to do
    "elmo": "released ELMo files leave it out. Pretrain further with --init, which makes one.",
    "awd_lstm": "an encoder saved alone has none. Take the file of the whole language model (of both, for a pair).",
    "bert": "many BERT files leave out the head that finds masked words, as those made for sentence vectors do. "
    "Take a folder that was saved as BertForMaskedLM or BertForPreTraining.",
}


def way_of(pretrained: Pretrained, ways: Mapping[str, Way], what: str) -> Way:
    """The way of this encoder's family; it needs the output layer of its pretraining."""
    family, lm = pretrained.encoder.family, pretrained.lm
    if family not in ways:
        raise Mistake(f"Encoders of the family {family!r} cannot {what} here; {listed(ways)} can.")
    if lm is None or (isinstance(lm, BertHeads) and lm.masked is None):
        raise Mistake(f"This model has no output layer, so it cannot {what}: {_ABSENT[family]}")
    return ways[family]


@contextmanager
def reading(pretrained: Pretrained) -> Iterator[None]:
    """Without dropout and gradients; a model in training stays in training afterwards."""
    modules = [module for module in (pretrained.encoder, pretrained.lm) if module is not None]
    with evaluating(*modules), torch.inference_mode():
        yield


def mask_of(tokenizer: WordPiece, what: str) -> int:
    """The id of the mask piece."""
    try:
        return tokenizer.id_of("mask")
    except Mistake as absent:
        raise Mistake(
            f"{absent} A model without it never learned to find masked words, so it cannot {what}. "
            "If it did, copy the vocab.txt and tokenizer files of its pretraining into its folder."
        ) from None


def by_direction(pretrained: Pretrained) -> dict[str, Pretrained]:
    """An AWD-LSTM by the way it reads; a pair gives two."""
    models = apart(pretrained) if isinstance(pretrained.encoder, BidirectionalAwdLstm) else (pretrained,)
    return {_direction(model): model for model in models}


def _direction(model: Pretrained) -> str:
    assert isinstance(model.tokenizer, MarkedWords)
    return "backward" if model.tokenizer.reverse else "forward"
