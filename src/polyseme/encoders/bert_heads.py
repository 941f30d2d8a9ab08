"""What BERT was pretrained with: one head that finds masked words, one that tells whether sentences are adjacent."""

from functools import partial

import torch
from torch import Tensor, nn

from polyseme.encoders.bert_config import ACTIVATIONS, BertConfig, initialise
from polyseme.errors import Mistake
from polyseme.layers.dense import times
from polyseme.layers.rounded import linear
from polyseme.layers.softmax import full_loss


class BertHeads(nn.Module):
    """Either head may be absent, since many files leave one out."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.masked = MaskedWords(config) if config.masked_head else None
        self.adjacent = nn.Linear(config.hidden_size, 2) if config.adjacent_head else None
        self.apply(partial(initialise, spread=config.initializer_range))

    def masked_words(self, vectors: Tensor, table: Tensor) -> Tensor:
        """(rows, pieces): scores of each piece at each row; `table` is the encoder's `embeddings.words.weight`."""
        if self.masked is None:
            raise Mistake("This BERT has no head for masked words (its file left it out), so it cannot fill gaps.")
        scores: Tensor = self.masked(vectors, table)
        return scores

    def next_sentence(self, pooled: Tensor) -> Tensor:
        """(sequences, 2): scores of "the second text follows the first" and "it does not"; reads the pooler."""
        if self.adjacent is None:
            raise Mistake("This BERT has no next-sentence head (its file left it out).")
        scores: Tensor = self.adjacent(pooled)
        return scores


class MaskedWords(nn.Module):
    """Its output layer is the encoder's own table of pieces, given at each call, with a bias of its own."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.activation = ACTIVATIONS[config.hidden_act]

    def forward(self, vectors: Tensor, table: Tensor) -> Tensor:
        return times(self._transformed(vectors), table, self.bias)

    def loss(self, vectors: Tensor, table: Tensor, targets: Tensor) -> Tensor:
        """The mean negative log-likelihood of these pieces; the scores of all rows are never in memory at once."""
        return full_loss(self._transformed(vectors), table, self.bias, targets)

    def _transformed(self, vectors: Tensor) -> Tensor:
        normed: Tensor = self.norm(self.activation(linear(self.dense, vectors)))
        return normed
