"""From two texts that were encoded apart to outputs of the two together."""

import torch
from torch import Tensor, nn

from polyseme.errors import Mistake
from polyseme.heads.head import Features


class PairModel(nn.Module):
    """[a; b; |a - b|; a * b] through one hidden layer (Conneau et al. 2017); texts 0 and 1 are a pair, 2 and 3, …"""

    def __init__(self, width: int, n_outputs: int, dropout: float, hidden_width: int) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.hidden = nn.Linear(4 * width, hidden_width)
        self.out = nn.Linear(hidden_width, n_outputs)

    def forward(self, features: Features) -> Tensor:
        """(pairs, outputs)"""
        texts = features.texts
        if len(texts) % 2:
            raise Mistake(f"Found {len(texts)} texts; wanted pairs, the two texts of each side by side.")
        one, other = texts[::2], texts[1::2]  # each (pairs, width)
        compared = torch.cat([one, other, (one - other).abs(), one * other], 1)
        outputs: Tensor = self.out(self.drop(self.hidden(self.drop(compared)).relu()))
        return outputs
