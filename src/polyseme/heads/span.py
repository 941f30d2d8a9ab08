"""Where in a text the answer stands."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyseme.heads.head import Features, Head

_LONGEST = 30  # words of an answer


class Span(Head):
    """A score for each word to be the answer's first, and one to be its last."""

    def __init__(self, width: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout, self.out = nn.Dropout(dropout), nn.Linear(width, 2)

    def forward(self, features: Features) -> Tensor:
        scores: Tensor = self.out(self.dropout(features.rows))  # (words, 2)
        return scores

    def loss(self, scores: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        """`targets` (texts, 2) are rows within each text; the mean of both ends' cross entropies."""
        norms = _log_sums(scores, offsets)  # (texts, 2)
        wanted = scores[offsets[:-1, None] + targets, torch.arange(2)]
        return (norms - wanted).mean()

    def decode(self, scores: Tensor, offsets: Tensor, first: Tensor) -> list[tuple[int, int, float]]:
        """The likeliest first and last row of each text from its row `first` on, and how likely the two are."""
        found = []
        norms = _log_sums(scores, offsets).tolist()
        bounds = offsets.tolist()
        for number, begin in enumerate(first.tolist()):
            inside = scores[bounds[number] + begin : bounds[number + 1]]
            start, end, best = _best(inside)
            found.append((begin + start, begin + end, best - sum(norms[number])))
        return found


def _best(scores: Tensor) -> tuple[int, int, float]:
    """The best pair of rows start <= end < start + longest."""
    sums = scores[:, :1] + scores[:, 1]  # (rows, rows)
    near = torch.ones_like(sums, dtype=torch.bool).triu().tril(_LONGEST - 1)
    sums = sums.masked_fill(~near, -torch.inf)
    place = int(sums.argmax())
    return place // len(sums), place % len(sums), float(sums.flatten()[place])


def _log_sums(scores: Tensor, offsets: Tensor) -> Tensor:
    """log Σ exp over each text's rows, (texts, columns)."""
    lengths = offsets.diff()
    texts = torch.arange(len(lengths)).repeat_interleave(lengths)
    index = texts.unsqueeze(1).expand_as(scores)
    highest = scores.detach().new_full((len(lengths), scores.shape[1]), -torch.inf)
    highest = highest.scatter_reduce(0, index, scores.detach(), "amax")
    sums = scores.new_zeros(len(lengths), scores.shape[1]).index_add(0, texts, (scores - highest[texts]).exp())
    return sums.log() + highest
