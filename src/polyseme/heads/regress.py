"""A number for each text."""

from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.heads.head import Features, Head


class Regress(Head):
    """One linear output, trained on numbers of mean 0 and spread 1."""

    def __init__(self, width: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout, self.out = nn.Dropout(dropout), nn.Linear(width, 1)

    def forward(self, features: Features) -> Tensor:
        scores: Tensor = self.out(self.dropout(features.rows))  # (texts, 1)
        return scores

    def loss(self, scores: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        return F.mse_loss(scores.flatten(), targets)
