"""A tag for each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.heads.head import Features, Head
from polyseme.layers.bilstm import BiLstm
from polyseme.layers.crf import Allowed, Crf

_LSTM_WIDTH = 128


class Tag(Head):
    """A linear layer over words, with a BiLSTM below it and a CRF above it on request."""

    def __init__(
        self, width: int, names: Sequence[str], kind: Literal["linear", "bilstm"] = "linear", crf: bool = False,
        spans: bool = False, dropout: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.lstm = BiLstm(width, _LSTM_WIDTH, dropout=dropout) if kind == "bilstm" else None
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(2 * _LSTM_WIDTH if self.lstm is not None else width, len(names))
        self.crf = Crf(len(names), allowed(names) if spans else None) if crf else None

    def forward(self, features: Features) -> Tensor:
        rows = features.rows
        if self.lstm is not None:
            rows = self.lstm(rows, features.offsets).rows
        scores: Tensor = self.out(self.dropout(rows))  # (words, tags)
        return scores

    def loss(self, scores: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        if self.crf is not None:
            return self.crf.nll(scores, targets, offsets)
        return F.cross_entropy(scores, targets)

    def decode(self, scores: Tensor, offsets: Tensor) -> Tensor:
        """(words,) the number of each word's tag."""
        return scores.argmax(1) if self.crf is None else self.crf.best(scores, offsets)


def allowed(names: Sequence[str]) -> Allowed:
    """What may follow what in IOB2: I- only behind B- or I- of its type.

    >>> allowed(["B-X", "I-X", "O"]).follow.tolist()
    [[True, True, True], [True, True, True], [True, False, True]]
    """
    inside = torch.tensor([name.startswith("I-") for name in names])
    types = [name[2:] for name in names]
    same = torch.tensor(
        [[one == other and first != "O" for other in types] for first, one in zip(names, types, strict=True)]
    )
    return Allowed(~inside[None, :] | same, ~inside, torch.ones(len(names), dtype=torch.bool))
