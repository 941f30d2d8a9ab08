"""BERT (Devlin et al. 2019): a transformer whose words see their whole sentence at every layer."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from polyseme.encoders.bert_config import ACTIVATIONS, LEAST, BertConfig, initialise, refuse
from polyseme.encoders.bert_heads import BertHeads
from polyseme.encoders.encoder import Encoder, Family
from polyseme.errors import Mistake
from polyseme.layers.attention import Runs, SelfAttention, n_lanes
from polyseme.layers.dense import n_padding, onednn_is_faster
from polyseme.layers.products import Precision
from polyseme.layers.rounded import linear, processor_rounds
from polyseme.layers.start import table
from polyseme.text.wordpiece import WordPiece
from polyseme.types import Batch, Encoding, State

_SMALL_BLOCK = 16_000_000  # bytes of a block's weights: MiniLM's 7 million, in 8 bits the base size's 7, else its 28
_CHUNK = 1024  # positions; what the feed-forward layer widens them to then stays in the processor's cache


class BertEncoder(Encoder):
    """Layers: the sum of the embeddings, then the output of each block. The pooler goes with it where there is one.

    `precision="int8"` rounds the blocks' products while computing without gradients; parameters stay as they are.
    """

    family = "bert"
    config: BertConfig

    def __init__(self, config: BertConfig, precision: Precision = "float32") -> None:
        super().__init__()
        refuse(config)
        self.config, self.precision = config, precision
        self.embeddings = Embeddings(config)
        self.stack = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size) if config.pooler else None
        self.apply(partial(initialise, spread=config.initializer_range))

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.config.hidden_size,) * (len(self.stack) + 1)

    def blocks(self) -> list[nn.Module]:
        return [self.embeddings, *self.stack]

    @property
    def budget(self) -> int:
        if not self.small:
            return 2048  # what keeps all threads busy
        return 1024 if self._rounds or n_lanes() == 16 else 512  # what one thread multiplies fastest

    @property
    def small(self) -> bool:
        width, inner = self.config.hidden_size, self.config.intermediate_size
        n_bytes = 1 if self._rounds else 4
        return n_bytes * width * (4 * width + 2 * inner) <= _SMALL_BLOCK

    @property
    def _rounds(self) -> bool:
        return self.precision == "int8" and processor_rounds()

    def forward(self, batch: Batch, state: State | None = None) -> Encoding:
        runs = self._runs(batch)
        layers = [runs.arranged(self.embeddings(batch))]  # each (positions, width)
        for block in self.stack:
            layers.append(block(layers[-1], runs, self.precision))
        return Encoding(tuple(runs.restored(layer) for layer in layers), batch.offsets)

    def top_at(self, batch: Batch, positions: Tensor) -> Tensor:
        """(positions, width): the top layer at these positions alone, for which its block does only what they need."""
        runs = self._runs(batch)
        rows, places = runs.arranged(self.embeddings(batch)), runs.places_of(positions)
        if not len(self.stack):
            return rows.index_select(0, places)
        for block in self.stack[:-1]:
            rows = block(rows, runs, self.precision)
        top: Tensor = self.stack[-1](rows, runs, self.precision, places)
        return top

    def pooled_from(self, rows: Tensor) -> Tensor:
        """What the pooler makes of the top layer's rows at each sequence's [CLS]."""
        if self.pooler is None:
            raise Mistake("This BERT has no pooler (its file left it out). Pool its words instead, by their mean.")
        return torch.tanh(self.pooler(rows))

    def pooled(self, encoding: Encoding) -> Tensor:
        """(sequences, width): what the pooler makes of each sequence's [CLS]."""
        return self.pooled_from(encoding.layers[-1][encoding.offsets[:-1]])

    def _runs(self, batch: Batch) -> Runs:
        """Rows are padded once, not for each product."""
        if batch.ids.device.type != "cpu":
            return Runs.of(batch.offsets)
        lanes = 1 if torch.is_grad_enabled() else n_lanes()
        if onednn_is_faster() or (self._rounds and not torch.is_grad_enabled()):
            return Runs.of(batch.offsets, n_padding, lanes)
        return Runs.of(batch.offsets, lanes=lanes)


class Embeddings(nn.Module):
    """Piece, segment and position: one vector each, summed."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.words = table(config.vocab_size, config.hidden_size)
        self.positions = table(config.max_position_embeddings, config.hidden_size)
        self.segments = table(config.type_vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, batch: Batch) -> Tensor:
        segments = self.segments.weight[0] if batch.segments is None else self._segments(batch.segments)
        summed = self.words(batch.ids) + segments + self.positions(self._places(batch))  # (positions, width)
        normed: Tensor = self.dropout(self.norm(summed))
        return normed

    def _places(self, batch: Batch) -> Tensor:
        """Each position's place in its sequence."""
        starts = 0 if batch.starts is None else batch.starts
        longest, room = int((starts + batch.lengths).max()) if batch.n_sequences else 0, self.positions.num_embeddings
        if longest > room:
            raise Mistake(
                f"A sequence has {longest} pieces; this encoder has {room} positions. Cut longer texts into windows: "
                f"tokenizer.with_window({room})."
            )
        before = (batch.offsets[:-1] - starts).repeat_interleave(batch.lengths)
        return torch.arange(len(batch.ids), device=batch.ids.device) - before

    def _segments(self, segments: Tensor) -> Tensor:
        if self.segments.num_embeddings == 1:
            raise Mistake("This encoder knows one segment only (type_vocab_size 1); it cannot read pairs of texts.")
        rows: Tensor = self.segments(segments)
        return rows


class Block(nn.Module):
    """Self-attention, then a feed-forward layer; each is added to what it read, and the sum normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.attention = SelfAttention(width, config.num_attention_heads, config.attention_probs_dropout_prob)
        self.attention_norm = nn.LayerNorm(width, eps=eps)
        self.inner = nn.Linear(width, config.intermediate_size)
        self.outer = nn.Linear(config.intermediate_size, width)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.activation = ACTIVATIONS[config.hidden_act]

    def forward(self, rows: Tensor, runs: Runs, precision: Precision = "float32", only: Tensor | None = None) -> Tensor:
        """(positions, width), or `only` at some of the positions."""
        found = self.dropout(self.attention(rows, runs, precision, only))
        rows = self.attention_norm(found.add_(rows if only is None else rows.index_select(0, only)))
        if torch.is_grad_enabled() or rows.device.type != "cpu" or len(rows) <= _CHUNK:
            return self._feed_forward(rows, precision)
        return torch.cat([self._feed_forward(part, precision) for part in torch.split(rows, _CHUNK)])

    def _feed_forward(self, rows: Tensor, precision: Precision) -> Tensor:
        wide = linear(self.inner, rows, precision)  # (positions, intermediate width)
        wide = self.activation(wide, out=None if torch.is_grad_enabled() else wide)
        normed: Tensor = self.norm(self.dropout(linear(self.outer, wide, precision, LEAST, spent=True)).add_(rows))
        return normed


def _n_rows(tokenizer: WordPiece, config: BertConfig) -> tuple[int, int]:
    return max(tokenizer.n_pieces, config.vocab_size), config.vocab_size  # released tables may have rows to spare


FAMILY = Family("bert", BertConfig, BertEncoder, WordPiece, BertHeads, _n_rows)
