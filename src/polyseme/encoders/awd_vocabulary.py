"""A new vocabulary for a trained AWD-LSTM: ULMFiT's second stage, where the task's own words come in."""

from collections.abc import Sequence

import torch
from torch import Tensor

from polyseme.encoders.awd_lstm import FAMILY, AwdLstmConfig
from polyseme.encoders.pretrained import Pretrained
from polyseme.errors import Mistake
from polyseme.text.marked import MarkedWords


def with_vocabulary(pretrained: Pretrained, words: Sequence[str]) -> Pretrained:
    """The model with these words: a known word keeps its row and its bias, a new one gets the mean of all the old."""
    config, tokenizer = pretrained.encoder.config, pretrained.tokenizer
    if not isinstance(config, AwdLstmConfig) or not isinstance(tokenizer, MarkedWords):
        raise Mistake(f"with_vocabulary() takes an AWD-LSTM; found {type(pretrained.encoder).__name__}.")
    new = MarkedWords(words, tokenizer.reverse)
    rows = torch.tensor([tokenizer.ids.get(word, -1) for word in new.words])
    config = config.model_copy(update={"n_words": len(rows)})
    with torch.device("meta"):  # takes no memory, nor any random numbers
        encoder = FAMILY.encoder(config)
        lm = None if pretrained.lm is None or FAMILY.lm is None else FAMILY.lm(config)
    _copy(pretrained.encoder, encoder, rows, ".embedding.weight")
    if lm is not None and pretrained.lm is not None:
        _copy(pretrained.lm, lm, rows, ".bias")
    return Pretrained(new, encoder, pretrained.provenance, lm)


def _copy(old: torch.nn.Module, new: torch.nn.Module, rows: Tensor, by_word: str) -> None:
    """Copy all tensors; those whose name ends so have a row a word."""
    state = {
        name: _mapped(tensor, rows) if f".{name}".endswith(by_word) else tensor.clone()
        for name, tensor in old.state_dict().items()
    }
    new.load_state_dict(state, assign=True)
    new.train(old.training)


def _mapped(table: Tensor, rows: Tensor) -> Tensor:
    """The table's row for each row number, and the mean of the table for -1.

    >>> _mapped(torch.tensor([1.0, 3.0]), torch.tensor([1, -1])).tolist()
    [3.0, 2.0]
    """
    return torch.cat([table, table.mean(0, keepdim=True)])[rows]
