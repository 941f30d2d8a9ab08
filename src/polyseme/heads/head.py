"""What every head is: vectors in; logits, their loss and the answers they stand for out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from polyseme.layers.pool import mean


@dataclass(frozen=True, slots=True)
class Features:
    """The vectors of some texts, from whatever encoder."""

    words: Tensor  # (rows, width) end to end
    offsets: Tensor  # (texts + 1,) where each text's rows begin
    pooled: Tensor | None = None  # (texts, width) where the encoder has a vector for a whole text, as BERT's [CLS]

    @property
    def texts(self) -> Tensor:
        """(texts, width) the encoder's own, or the mean over the words."""
        return mean(self.words, self.offsets) if self.pooled is None else self.pooled


class Head(nn.Module):
    """Reads Features, not encoders. `offsets` are those of the features, for heads that answer word by word."""

    def forward(self, features: Features) -> Tensor:
        """The logits: a row a text, or a row a word."""
        raise NotImplementedError

    def loss(self, logits: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        """What training makes small: a mean over texts or over words."""
        raise NotImplementedError

    def expect(self, targets: Any) -> None:
        """Begin with what the targets alone tell, where a head can; what is then learned is what texts add to it."""

    def decode(self, logits: Tensor, offsets: Tensor) -> Any:
        """The answers."""
        raise NotImplementedError
