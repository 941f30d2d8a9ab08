"""A class for each text or pair of texts."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.heads.head import Features, Head
from polyseme.heads.text_models import TextModel, text_model


class Classes(NamedTuple):
    """The likeliest class of each text, and how likely each class is."""

    numbers: Tensor  # (texts,)
    probabilities: Tensor  # (texts, classes)


class Classify(Head):
    """Cross entropy over the outputs of a model; targets are the (texts,) numbers of the classes."""

    def __init__(
        self,
        width: int,
        n_classes: int,
        model: TextModel = "linear",
        dropout: float = 0.1,
        hidden_width: int | None = None,
    ) -> None:
        super().__init__()
        self.model = text_model(model, width, n_classes, dropout, hidden_width)

    def forward(self, features: Features) -> Tensor:
        """(texts, classes)"""
        logits: Tensor = self.model(features)
        return logits

    def loss(self, logits: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        return F.cross_entropy(logits, targets)

    def expect(self, targets: Tensor) -> None:
        """How frequent each class is. Rows of mean 0 say nothing of that, so that it would be learned step by step:
        with 3 % of one class and few examples a new head is behind one that always says the other."""
        out = self.model.out
        assert isinstance(out, nn.Linear)
        shares = targets.bincount(minlength=out.out_features).clamp(min=0.5).log()
        with torch.no_grad():
            out.bias.copy_(shares - shares.mean())

    def decode(self, logits: Tensor, offsets: Tensor) -> Classes:
        return Classes(logits.argmax(1), logits.softmax(1))
