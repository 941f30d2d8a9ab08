"""From the features of texts to some outputs a text: what stands between vectors and a head's logits."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.heads.head import Features
from polyseme.heads.pair import PairModel
from polyseme.layers.bilstm import BiLstm
from polyseme.layers.pool import maximum, mean

TextModel = Literal["linear", "ulmfit", "bilstm", "pair"]


def text_model(
    name: TextModel, width: int, n_outputs: int, dropout: float = 0.1, hidden_width: int | None = None
) -> nn.Module:
    """A module from Features to (texts, outputs), or to (pairs, outputs) for "pair"."""
    match name:
        case "linear":
            return LinearModel(width, n_outputs, dropout)
        case "ulmfit":
            return UlmfitModel(width, n_outputs, dropout, hidden_width or 50)
        case "bilstm":
            return BiLstmModel(width, n_outputs, dropout, hidden_width or 128)
        case "pair":
            return PairModel(width, n_outputs, dropout, hidden_width or width)
        case _:
            raise Mistake(f"model={name!r} is not known. Use 'linear', 'ulmfit', 'bilstm' or 'pair'.")


class LinearModel(nn.Module):
    """One linear layer on the vector of a text, as BERT is fine-tuned."""

    def __init__(self, width: int, n_outputs: int, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(width, n_outputs)

    def forward(self, features: Features) -> Tensor:
        outputs: Tensor = self.out(self.drop(features.texts))
        return outputs


class UlmfitModel(nn.Module):
    """Two blocks of batch norm, dropout and linear on the vector of a text (Howard & Ruder 2018)."""

    def __init__(self, width: int, n_outputs: int, dropout: float, hidden_width: int) -> None:
        super().__init__()
        self.norm, self.drop = _RowNorm(width), nn.Dropout(dropout)
        self.hidden = nn.Linear(width, hidden_width)
        self.hidden_norm, self.hidden_drop = _RowNorm(hidden_width), nn.Dropout(min(dropout, 0.1))
        self.out = nn.Linear(hidden_width, n_outputs)

    def forward(self, features: Features) -> Tensor:
        pooled = self.drop(self.norm(features.texts))
        hidden = self.hidden(pooled).relu()
        outputs: Tensor = self.out(self.hidden_drop(self.hidden_norm(hidden)))
        return outputs


class BiLstmModel(nn.Module):
    """A BiLSTM over the words, of which the highest, the mean and the last states are read."""

    def __init__(self, width: int, n_outputs: int, dropout: float, hidden_width: int) -> None:
        super().__init__()
        self.lstm = BiLstm(width, hidden_width, dropout=dropout)
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(3 * self.lstm.width, n_outputs)

    def forward(self, features: Features) -> Tensor:
        found = self.lstm(features.words, features.offsets)
        pooled = [pool(found.rows, features.offsets) for pool in (maximum, mean)]
        outputs: Tensor = self.out(self.drop(torch.cat([*pooled, found.last], 1)))
        return outputs


class _RowNorm(nn.BatchNorm1d):
    """Batch norm that also learns from a lone text, which has no variance: it is measured by those before it."""

    def forward(self, rows: Tensor) -> Tensor:
        if len(rows) > 1 or not self.training:
            return super().forward(rows)
        return F.batch_norm(rows, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
