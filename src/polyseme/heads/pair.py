"""Two texts that were read apart, compared."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.heads.head import Features, Head

_HIDDEN = 256


class Pair(Head):
    """Reads [a, b, |a - b|, a * b, cos(a, b)] of each pair; rows come in turn, a first. One output is a number."""

    def __init__(self, width: int, n_outputs: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(4 * width + 1, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, n_outputs)
        )
        self.direct = nn.Linear(1, n_outputs)  # the cosine alone tells much of similarity

    def forward(self, features: Features) -> Tensor:
        first, second = features.rows[0::2], features.rows[1::2]
        cosine = F.cosine_similarity(first, second, dim=1).unsqueeze(1)
        joined = torch.cat([first, second, (first - second).abs(), first * second, cosine], 1)
        scores: Tensor = self.layers(joined) + self.direct(cosine)  # (pairs, outputs)
        return scores

    def loss(self, scores: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        if scores.shape[1] == 1:
            return F.mse_loss(scores.flatten(), targets)
        return F.cross_entropy(scores, targets)
