"""A class for each text."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.heads.head import Features, Head
from polyseme.layers.bilstm import BiLstm
from polyseme.layers.pool import maximum, mean

Kind = Literal["linear", "ulmfit", "bilstm"]

_HIDDEN = 50  # ULMFiT's
_LSTM_WIDTH = 128


class Classify(Head):
    """Reads a row a text: a linear layer, or ULMFiT's head; or reads words through a BiLSTM (the ELMo recipe)."""

    def __init__(self, width: int, n_classes: int, kind: Kind = "linear", dropout: float = 0.1) -> None:
        super().__init__()
        self.lstm = BiLstm(width, _LSTM_WIDTH, dropout=dropout) if kind == "bilstm" else None
        width = 6 * _LSTM_WIDTH if self.lstm is not None else width
        self.layers = _ulmfit(width, n_classes, dropout) if kind == "ulmfit" else _linear(width, n_classes, dropout)

    def forward(self, features: Features) -> Tensor:
        rows = features.rows
        if self.lstm is not None:
            words, last = self.lstm(rows, features.offsets)
            rows = torch.cat([last, maximum(words, features.offsets), mean(words, features.offsets)], 1)
        scores: Tensor = self.layers(rows)  # (texts, classes)
        return scores

    def loss(self, scores: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        return F.cross_entropy(scores, targets)


def _linear(width: int, n_outputs: int, dropout: float) -> nn.Module:
    last = nn.Linear(width, n_outputs)
    nn.init.normal_(last.weight, std=0.02)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Dropout(dropout), last)


def _ulmfit(width: int, n_outputs: int, dropout: float) -> nn.Module:
    """Batch norm, dropout, 50 units, and the same before the outputs (Howard & Ruder 2018)."""
    return nn.Sequential(
        _Norm(width), nn.Dropout(dropout), nn.Linear(width, _HIDDEN), nn.ReLU(),
        _Norm(_HIDDEN), nn.Dropout(dropout / 2), nn.Linear(_HIDDEN, n_outputs),
    )  # fmt: skip


class _Norm(nn.BatchNorm1d):
    """Batch norm that lets a batch of one pass, by what it has seen before."""

    def forward(self, rows: Tensor) -> Tensor:
        if self.training and len(rows) == 1:
            return F.batch_norm(rows, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        return super().forward(rows)
