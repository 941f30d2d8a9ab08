"""An encoder and a head on top of it, with the choice or the mix of layers between them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyseme.adapt.long_texts import Windows
from polyseme.adapt.rows import Reading, Rows
from polyseme.encoders import Encoder
from polyseme.heads.head import Features, Head
from polyseme.layers.mix import Mix
from polyseme.layers.standard import Standard
from polyseme.types import Batch


class Top(nn.Module):
    """All that is new: the mix where there is one, what makes rows alike in scale, and the head."""

    def __init__(self, reading: Reading, mix: Mix | None, head: Head, standard: Standard | None = None) -> None:
        super().__init__()
        self.reading, self.mix, self.head, self.standard = reading, mix, head, standard

    def features(self, rows: Rows) -> Features:
        """The layers as one, (rows, width)."""
        vectors = self.vectors(rows)
        if self.standard is not None:
            vectors = self.standard(vectors)
        return Features(vectors, rows.offsets, None if self.reading.pool == "words" else vectors)

    def vectors(self, rows: Rows) -> Tensor:
        """The same as the encoder scales them."""
        if self.mix is not None:
            mixed: Tensor = self.mix(rows.layers)
            return mixed
        return rows.layers[0] if len(rows.layers) == 1 else torch.cat(rows.layers, 1)


class Adapted(nn.Module):
    """What is fine-tuned: the encoder with its top."""

    def __init__(self, encoder: Encoder, top: Top, windows: Windows) -> None:
        super().__init__()
        self.encoder, self.top, self.windows = encoder, top, windows

    def rows(self, batch: Batch, n_texts: int) -> Rows:
        return self.top.reading.rows(self.encoder, self.windows.read(self.encoder, batch), batch, n_texts)
