"""Static word vectors: one vector a word, whatever stands around it."""

from __future__ import annotations

import torch
from pydantic import BaseModel, ConfigDict, PositiveInt
from torch import nn
from torch.nn import functional as F

from polyseme.encoders.encoder import Encoder, Family
from polyseme.layers import start
from polyseme.text.bags import BagTokenizer
from polyseme.types import Batch, Encoding, State


class StaticConfig(BaseModel):
    """The size of the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_rows: PositiveInt  # words, then n-gram buckets where there are any
    width: PositiveInt


class StaticEncoder(Encoder):
    """A word's vector is the mean of the table rows its spelling names; one layer, layer 0."""

    family = "static"

    def __init__(self, config: StaticConfig) -> None:
        super().__init__()
        self.config = config
        rows = start.normal_(torch.empty(config.n_rows, config.width), std=1.0)
        self.table = nn.EmbeddingBag(config.n_rows, config.width, mode="mean", include_last_offset=True, _weight=rows)

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.table.embedding_dim,)

    def blocks(self) -> list[nn.Module]:
        return [self.table]

    def forward(self, batch: Batch, state: State | None = None) -> Encoding:
        assert batch.spellings is not None
        vectors = self.table(batch.spellings.values, batch.spellings.offsets)  # (distinct words, width)
        return Encoding((F.embedding(batch.ids, vectors),), batch.offsets)


def _n_rows(tokenizer: BagTokenizer, config: StaticConfig) -> tuple[int, int]:
    return tokenizer.n_rows, config.n_rows


FAMILY = Family("static", StaticConfig, StaticEncoder, BagTokenizer, n_wanted=_n_rows)
