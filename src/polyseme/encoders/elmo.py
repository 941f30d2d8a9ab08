"""ELMo: a character-based bidirectional language model, read at all its layers (Peters et al. 2018)."""

from __future__ import annotations

from typing import Annotated, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.encoders.encoder import Directions, Encoder, Family
from polyseme.encoders.known_words import word_vectors
from polyseme.errors import Mistake
from polyseme.layers.char_cnn import Activation, CharCnn
from polyseme.layers.lstm import LstmState, ProjectedLstm
from polyseme.layers.products import Precision
from polyseme.layers.softmax import Softmax
from polyseme.layers.time_major import TimeMajor
from polyseme.text.characters import N_CHARACTERS, PAD, CharacterTokenizer
from polyseme.types import Batch, Encoding, State

Size = Annotated[int, Field(ge=1, le=1 << 20)]
Clip = Annotated[float, Field(gt=0, le=1e30)]  # a float32
Count = Annotated[int, Field(ge=0, le=64)]

_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


class ElmoConfig(BaseModel):
    """The shape of a biLM; the defaults are those of the original release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    character_width: Size = 16
    filters: Annotated[tuple[tuple[Size, Size], ...], Field(min_length=1, max_length=64)] = _FILTERS
    activation: Activation = "relu"
    n_highway: Count = 2
    token_projection: bool = True  # bilm-tf leaves it out where there are just as many filters as the width
    max_characters: Annotated[int, Field(ge=3, le=10_000)] = 50
    width: Size = 512  # of one direction
    cell_width: Size = 4096
    n_layers: Annotated[int, Field(ge=1, le=64)] = 2
    skip: bool = True  # from the second LSTM layer up its input is added to its output
    cell_clip: Clip | None = 3.0
    projection_clip: Clip | None = 3.0
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1  # on what goes into the cells, while training
    n_words: Size | None = None  # that the softmax of its pretraining knows; released files have none

    @property
    def n_filters(self) -> int:
        return sum(n for _, n in self.filters)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        widest = max(wide for wide, _ in self.filters)
        if widest > self.max_characters:
            raise ValueError(f"a filter is {widest} characters wide, a word has at most {self.max_characters}")
        if not self.token_projection and self.n_filters != self.width:
            raise ValueError(f"{self.n_filters} filters need a projection to the width of {self.width}")
        return self


class ElmoEncoder(Encoder):
    """Layer 0 is the word alone, twice; above it each layer is [forward; backward].

    `precision="int8"` rounds the LSTMs' weights while computing without gradients; parameters stay as they are.
    """

    family = "elmo"
    config: ElmoConfig

    def __init__(self, config: ElmoConfig, precision: Precision = "float32") -> None:
        super().__init__()
        self.config, self.precision = config, precision
        self.words = CharCnn(
            n_characters=N_CHARACTERS,  # the reference has one more, for padded positions; here there are none
            pad=PAD,
            max_characters=config.max_characters,
            character_width=config.character_width,
            filters=config.filters,
            n_highway=config.n_highway,
            width=config.width if config.token_projection else None,
            activation=config.activation,
        )
        self.layers = nn.ModuleList(BiLstm(config, skip=config.skip and n > 0) for n in range(config.n_layers))

    @property
    def widths(self) -> tuple[int, ...]:
        return (2 * self.config.width,) * (self.config.n_layers + 1)

    def blocks(self) -> list[nn.Module]:
        return [self.words, *self.layers]

    def forward(self, batch: Batch, state: State | None = None) -> Encoding:
        """All layers; `state` is as in Encoding.state: forward (output, memory) a layer, then backward, a row each
        a sequence of the batch; None means zeros."""
        assert batch.spellings is not None, "this batch comes from another family's tokenizer"
        words = F.embedding(batch.ids, word_vectors(self.words, batch.spellings))  # (positions, width)
        orders = TimeMajor.of(batch.offsets), TimeMajor.of(batch.offsets, reverse=True)
        before, after = self._by_direction(state, batch.n_sequences), []
        ahead = back = words
        layers = [torch.cat([words, words], 1)]
        for layer, states in zip(self.layers, before, strict=True):
            ahead, back, new = layer(ahead, back, orders, states, self.precision)
            layers.append(torch.cat([ahead, back], 1))
            after.append(new)
        flat = tuple(part for direction in (0, 1) for states in after for part in states[direction])
        return Encoding(tuple(layers), batch.offsets, flat)

    def directed(self, encoding: Encoding, directions: Directions) -> Encoding:
        return direction(encoding, directions)

    def _by_direction(self, state: State | None, n_sequences: int) -> list[tuple[LstmState | None, LstmState | None]]:
        """The (forward, backward) states of each layer."""
        n_layers = self.config.n_layers
        if state is None:
            return [(None, None)] * n_layers
        wanted = [(n_sequences, self.config.width), (n_sequences, self.config.cell_width)] * 2 * n_layers
        found = [tuple(part.shape) for part in state]
        if found != wanted:
            raise Mistake(f"The state has shapes {found}; this batch wants {wanted}. Give the state of these rows.")
        pairs = list(zip(state[::2], state[1::2], strict=True))
        return list(zip(pairs[:n_layers], pairs[n_layers:], strict=True))


class BiLstm(nn.Module):
    """One layer of both directions, which know nothing of each other."""

    def __init__(self, config: ElmoConfig, skip: bool) -> None:
        super().__init__()
        self.skip, self.dropout = skip, config.dropout
        shape = (config.width, config.cell_width, config.cell_clip, config.projection_clip)
        self.ahead, self.back = ProjectedLstm(*shape), ProjectedLstm(*shape)

    def forward(
        self,
        ahead: Tensor,
        back: Tensor,
        orders: tuple[TimeMajor, TimeMajor],
        states: tuple[LstmState | None, LstmState | None],
        precision: Precision,
    ) -> tuple[Tensor, Tensor, tuple[LstmState, LstmState]]:
        ahead_in, back_in = (F.dropout(rows, self.dropout, self.training) for rows in (ahead, back))
        ahead_out, ahead_state = self.ahead(ahead_in, orders[0], states[0], precision)
        back_out, back_state = self.back(back_in, orders[1], states[1], precision)
        if self.skip:  # the state is the value before this
            ahead_out, back_out = ahead_out + ahead, back_out + back
        return ahead_out, back_out, (ahead_state, back_state)


def direction(encoding: Encoding, which: Directions) -> Encoding:
    """The half of every layer that one direction gave; layer 0 is the word alone in either."""
    if which == "both":
        return encoding
    if which not in ("forward", "backward"):
        raise Mistake(f"directions={which!r} is not known. Use 'forward', 'backward' or 'both'.")
    half = 0 if which == "forward" else 1
    return Encoding(tuple(layer.chunk(2, 1)[half] for layer in encoding.layers), encoding.offsets, encoding.state)


def representations(encoding: Encoding) -> dict[str, Tensor]:
    """The 2L+1 vectors of each position by name: "word", then "forward 1", "backward 1", "forward 2", …"""
    found = {"word": direction(encoding, "forward").layers[0]}
    for number, layer in enumerate(encoding.layers[1:], start=1):
        found[f"forward {number}"], found[f"backward {number}"] = layer.chunk(2, 1)
    return found


def _softmax(config: ElmoConfig) -> Softmax:
    assert config.n_words is not None
    return Softmax(config.width, config.n_words)


def _n_words(tokenizer: CharacterTokenizer, config: ElmoConfig) -> tuple[int, int]:
    return len(tokenizer.vocabulary or ()), config.n_words or len(tokenizer.vocabulary or ())


FAMILY = Family("elmo", ElmoConfig, ElmoEncoder, CharacterTokenizer, _softmax, _n_words)
