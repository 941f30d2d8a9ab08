"""AWD-LSTM (Merity et al. 2017), the encoder of ULMFiT: LSTM layers under five kinds of dropout."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn

from polyseme.encoders.encoder import Encoder, Family
from polyseme.errors import Mistake
from polyseme.layers import dropout
from polyseme.layers.dense import times
from polyseme.layers.packed_lstm import PackedLstm, steps_of
from polyseme.layers.start import table
from polyseme.layers.time_major import sequences_of
from polyseme.text.marked import MarkedWords, turned
from polyseme.types import Batch, Encoding, State, mirrored

Rate = Annotated[float, Field(ge=0, lt=1)]
Size = Annotated[int, Field(ge=1, le=1 << 30)]


class Dropouts(BaseModel):
    """How much of what is dropped; ULMFiT's rates for a classifier."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Rate = 0.4  # of the embedded words
    embedding: Rate = 0.05  # whole words
    weight: Rate = 0.5  # recurrent weights
    hidden: Rate = 0.3  # between LSTM layers
    output: Rate = 0.4  # before the language model's output layer


class AwdLstmConfig(BaseModel):
    """The sizes and the dropouts; the defaults are those of the released models."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_words: Size
    embedding_width: Size = 400
    hidden_width: Size = 1152
    n_layers: Annotated[int, Field(ge=1, le=64)] = 3
    bidirectional: bool = False  # a forward and a backward model side by side
    dropouts: Dropouts = Dropouts()
    dropout_multiplier: Annotated[float, Field(ge=0)] = 1.0

    @property
    def widths(self) -> tuple[int, ...]:
        """The width of each layer of one direction; the last is the embedding's again, so that they can be tied."""
        return (self.embedding_width, *[self.hidden_width] * (self.n_layers - 1), self.embedding_width)

    @property
    def rates(self) -> Dropouts:
        """The dropouts times their multiplier."""
        return Dropouts(**{name: rate * self.dropout_multiplier for name, rate in self.dropouts})

    @model_validator(mode="after")
    def _rates_are_rates(self) -> Self:
        if (highest := max(rate for _, rate in self.dropouts) * self.dropout_multiplier) >= 1:
            raise ValueError(f"dropout_multiplier={self.dropout_multiplier} makes a rate {highest:.2f}; it must be < 1")
        return self


class AwdLstmEncoder(Encoder):
    """One direction. Its state is (hidden, cell) of each LSTM layer, each (sequences, width)."""

    family: ClassVar[str] = "awd_lstm"

    def __init__(self, config: AwdLstmConfig) -> None:
        super().__init__()
        self.config: AwdLstmConfig = config
        self.embedding = table(config.n_words, config.embedding_width)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        pairs = zip(config.widths[:-1], config.widths[1:], strict=True)
        self.lstms = nn.ModuleList(PackedLstm(below, width) for below, width in pairs)

    @property
    def widths(self) -> tuple[int, ...]:
        return self.config.widths

    def blocks(self) -> list[nn.Module]:
        return [self.embedding, *self.lstms]

    def forward(self, batch: Batch, state: State | None = None) -> Encoding:
        return self.run(batch, state, self.config.rates)

    def run(self, batch: Batch, state: State | None, rates: Dropouts) -> Encoding:
        """forward() with these dropouts. Layers are given before the dropout that the next one reads them through."""
        steps, state = steps_of(batch.offsets), self._checked(state, batch.n_sequences)
        ids, words = steps.arrange(batch.ids), self.embedding
        vectors = dropout.embedding(ids, words.weight, rates.embedding, words.training)
        layers, after, rate = [steps.restore(vectors)], list[Tensor](), rates.input
        for lstm, hidden, cell in zip(self.lstms, state[::2], state[1::2], strict=True):
            vectors = steps.drop(vectors, rate, self.training)
            vectors, *now = lstm(vectors, steps, hidden, cell, rates.weight)
            layers.append(steps.restore(vectors))
            after += now
            rate = rates.hidden
        return Encoding(tuple(layers), batch.offsets, tuple(after))

    def _checked(self, state: State | None, n_sequences: int) -> State:
        wanted = [(n_sequences, width) for width in self.widths[1:] for _ in ("hidden", "cell")]
        if state is None:
            return tuple(self.embedding.weight.new_zeros(shape) for shape in wanted)
        if (found := [tuple(tensor.shape) for tensor in state]) != wanted:
            raise Mistake(f"This batch needs a state of shapes {wanted}; found {found}. A row goes with a sequence.")
        return state


class TiedDecoder(nn.Module):
    """The output layer of one direction: the embedding once more, and a bias of its own."""

    def __init__(self, config: AwdLstmConfig) -> None:
        super().__init__()
        self.config = config
        self.bias = nn.Parameter(torch.zeros(config.n_words))

    def drop(self, encoding: Encoding) -> Tensor:
        """The top layer behind the output dropout: what forward() reads, and what AR penalises."""
        top, n_sequences = encoding.layers[-1], len(encoding.offsets) - 1
        return dropout.variational(
            top, sequences_of(encoding.offsets), n_sequences, self.config.rates.output, self.training
        )

    def forward(self, vectors: Tensor, encoder: AwdLstmEncoder) -> Tensor:
        """(rows, words) logits; the weight is the encoder's, given here so that it has one owner."""
        return times(vectors, encoder.embedding.weight, self.bias)


class BidirectionalAwdLstm(Encoder):
    """A forward and a backward model side by side: each layer is [forward; backward], position by position.

    The backward model reads every sequence from its end. The state is the forward model's, then the backward
    model's; the latter has come to the sequences' beginnings.
    """

    family: ClassVar[str] = "awd_lstm"

    def __init__(self, config: AwdLstmConfig) -> None:
        super().__init__()
        self.config: AwdLstmConfig = config
        single = config.model_copy(update={"bidirectional": False})
        self.forward_model, self.backward_model = AwdLstmEncoder(single), AwdLstmEncoder(single)

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(2 * width for width in self.config.widths)

    def blocks(self) -> list[nn.Module]:
        pairs = zip(self.forward_model.blocks(), self.backward_model.blocks(), strict=True)
        return [nn.ModuleList(pair) for pair in pairs]

    def forward(self, batch: Batch, state: State | None = None) -> Encoding:
        n_tensors, rates = 2 * self.config.n_layers, self.config.rates
        ahead, back = (None, None) if state is None else (state[:n_tensors], state[n_tensors:])
        forwards = self.forward_model.run(batch, ahead, rates)
        backwards = self.backward_model.run(turned(batch), back, rates)
        again = mirrored(batch.offsets)
        pairs = zip(forwards.layers, backwards.layers, strict=True)
        layers = tuple(torch.cat([one, other.index_select(0, again)], 1) for one, other in pairs)
        return Encoding(layers, batch.offsets, (*(forwards.state or ()), *(backwards.state or ())))


class BidirectionalDecoder(nn.Module):
    """The output layers of a pair: the next piece from the forward half, the piece before from the backward half."""

    def __init__(self, config: AwdLstmConfig) -> None:
        super().__init__()
        self.forward_decoder, self.backward_decoder = TiedDecoder(config), TiedDecoder(config)

    def forward(self, vectors: Tensor, encoder: BidirectionalAwdLstm) -> tuple[Tensor, Tensor]:
        ahead, back = vectors.chunk(2, dim=1)
        return (
            self.forward_decoder(ahead, encoder.forward_model),
            self.backward_decoder(back, encoder.backward_model),
        )


def _encoder(config: AwdLstmConfig) -> Encoder:
    return BidirectionalAwdLstm(config) if config.bidirectional else AwdLstmEncoder(config)


def _decoder(config: AwdLstmConfig) -> nn.Module:
    return BidirectionalDecoder(config) if config.bidirectional else TiedDecoder(config)


def _n_words(tokenizer: MarkedWords, config: AwdLstmConfig) -> tuple[int, int]:
    return len(tokenizer.words), config.n_words


FAMILY = Family("awd_lstm", AwdLstmConfig, _encoder, MarkedWords, _decoder, _n_words)
