"""What a head reads of an encoder: the chosen layers, as words or pooled to one row a text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from polyseme.encoders import Encoder, Pretrained
from polyseme.encoders.bert import BertEncoder
from polyseme.errors import Mistake, listed
from polyseme.layers.mix import layer_numbers
from polyseme.layers.pool import concat, mean, to_words
from polyseme.types import Batch, Encoding

Layers = Literal["top", "mix", "last4"] | int
Pool = Literal["words", "mean", "concat", "first", "pooler"]


@dataclass(frozen=True)
class Rows:
    """The chosen layers of some texts; offsets are those of their words, or one row a text where they are pooled."""

    layers: tuple[Tensor, ...]  # each (rows, width)
    offsets: Tensor  # (texts + 1,)


@dataclass(frozen=True)
class Reading:
    """Which layers are read and how they are pooled; each layer is pooled on its own, before any mix."""

    layers: Layers
    pool: Pool
    backward: float = 0.0  # the part of a row's columns, the last ones, that comes from reading backwards

    def chosen(self, n_layers: int) -> tuple[int, ...]:
        """The numbers of the layers that are read."""
        return layer_numbers(self.layers, n_layers)

    def rows(self, encoder: Encoder, encoding: Encoding, batch: Batch, n_texts: int) -> Rows:
        """Of one Batch. Texts are in order and all windows of a text stand together, so its words do too."""
        chosen = tuple(encoding.layers[number] for number in self.chosen(len(encoding.layers)))
        sequences = torch.searchsorted(batch.texts, torch.arange(n_texts + 1))  # the first of each text
        if self.pool in ("first", "pooler"):
            return self._of_sequences(encoder, replace(encoding, layers=chosen), sequences)
        words = to_words(replace(encoding, layers=chosen), batch)
        offsets = words.offsets[sequences]
        if self.pool == "words":
            return Rows(words.layers, offsets)
        pool = self._concat if self.pool == "concat" else mean
        return Rows(tuple(pool(layer, offsets) for layer in words.layers), torch.arange(n_texts + 1))

    def width(self, encoder: Encoder) -> int:
        """Of a pooled or word row."""
        widths = {encoder.widths[number] for number in self.chosen(len(encoder.widths))}
        if len(widths) > 1:
            raise Mistake(
                f"layers={self.layers!r} needs layers of one width; this encoder has "
                f"{', '.join(map(str, encoder.widths))}. Use layers='top'."
            )
        return widths.pop() * (3 if self.pool == "concat" else 1)

    def _of_sequences(self, encoder: Encoder, encoding: Encoding, sequences: Tensor) -> Rows:
        """[CLS] of each sequence, or what the pooler makes of it; several windows of a text are averaged."""
        if self.pool == "pooler":
            assert isinstance(encoder, BertEncoder)
            rows: tuple[Tensor, ...] = (encoder.pooled(encoding),)
        else:
            rows = tuple(layer[encoding.offsets[:-1]] for layer in encoding.layers)
        return Rows(tuple(mean(row, sequences) for row in rows), torch.arange(len(sequences)))

    def _concat(self, rows: Tensor, offsets: Tensor) -> Tensor:
        return concat(rows, offsets, int(rows.shape[1] * self.backward))


def reading(pretrained: Pretrained, layers: Layers, pool: Pool | None, joined: bool = False) -> Reading:
    """The pooling asked for, or the family's: recurrent ones concatenate last, maximum and mean (ULMFiT).

    BERT's is the mean over words; its pooler, if it was pretrained with pairs, for those that are `joined` and learned.
    """
    encoder = pretrained.encoder
    pool = pool or _POOLS.get(encoder.family, _mean)(encoder, layers, joined)
    if pool not in ("words", "mean", "concat", "first", "pooler"):
        raise Mistake(f"pool={pool!r} is not known. Use {listed(['mean', 'concat', 'first', 'pooler'])}.")
    if pool in ("first", "pooler") and encoder.family != "bert":
        raise Mistake(f"pool={pool!r} reads BERT's [CLS]; this is {encoder.family}. Use pool='mean'.")
    if pool == "pooler" and layers != "top":
        raise Mistake(f"BERT's pooler reads the top layer; layers={layers!r} was asked for. Use pool='mean'.")
    found = Reading(layers, pool, _backward(pretrained))
    found.width(encoder)  # says so where the layers do not fit together
    return found


def _mean(encoder: Encoder, layers: Layers, joined: bool) -> Pool:
    return "mean"


def _of_bert(encoder: Encoder, layers: Layers, joined: bool) -> Pool:
    assert isinstance(encoder, BertEncoder)
    has_pooler = encoder.pooler is not None and encoder.config.adjacent_head
    return "pooler" if joined and layers == "top" and has_pooler else "mean"


def _concat(encoder: Encoder, layers: Layers, joined: bool) -> Pool:
    return "concat"


_POOLS: dict[str, Callable[[Encoder, Layers, bool], Pool]] = {"bert": _of_bert, "elmo": _concat, "awd_lstm": _concat}


def _backward(pretrained: Pretrained) -> float:
    if pretrained.encoder.family == "elmo" or getattr(pretrained.encoder.config, "bidirectional", False):
        return 0.5
    return 1.0 if getattr(pretrained.tokenizer, "reverse", False) else 0.0
