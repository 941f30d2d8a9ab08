"""What every head is: it reads vectors, whatever encoder they come from."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Features:
    """Rows of some texts end to end: a row a text where they are pooled, else a row a word."""

    rows: Tensor  # (rows, width)
    offsets: Tensor  # (texts + 1,) where each text's rows begin


class Head(nn.Module):
    """Turns Features into scores, and scores into a loss."""

    def forward(self, features: Features) -> Tensor:
        raise NotImplementedError

    def loss(self, scores: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        """The mean loss of a batch."""
        raise NotImplementedError
