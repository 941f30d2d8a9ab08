"""What the released files of ELMo call the settings and tensors of a biLM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from torch import Tensor

from polyseme.encoders.elmo import ElmoConfig
from polyseme.text.characters import N_CHARACTERS

Array = NDArray[np.float32]

TOKEN_PROJECTION = "CNN_proj/W_proj"

_FROM_FILE, _TO_FILE = [0, 2, 3, 1], [0, 3, 1, 2]  # the file's gates are i, j, f, o; ours i, f, o, j


class _Embedding(BaseModel):
    dim: int


class _CharCnn(BaseModel):
    embedding: _Embedding
    filters: list[tuple[int, int]]
    activation: Literal["relu", "tanh"]
    # 261 while training, 262 (one more, for padding) afterwards; the stored table has 261 rows either way
    n_characters: Annotated[int, Field(ge=N_CHARACTERS, le=N_CHARACTERS + 1)]
    max_characters_per_token: int
    n_highway: int | None = None


class _Lstm(BaseModel):
    dim: int
    projection_dim: int
    n_layers: int
    cell_clip: float | None = None
    proj_clip: float | None = None
    use_skip_connections: bool | None = None


class Options(BaseModel):
    """options.json, as far as it says what the model computes."""

    char_cnn: _CharCnn
    lstm: _Lstm
    dropout: float = 0.1

    def config(self, token_projection: bool) -> ElmoConfig:
        cnn, lstm = self.char_cnn, self.lstm
        return ElmoConfig(
            character_width=cnn.embedding.dim,
            filters=tuple(cnn.filters),
            activation=cnn.activation,
            n_highway=cnn.n_highway or 0,
            token_projection=token_projection,
            max_characters=cnn.max_characters_per_token,
            width=lstm.projection_dim,
            cell_width=lstm.dim,
            n_layers=lstm.n_layers,
            skip=bool(lstm.use_skip_connections),
            cell_clip=lstm.cell_clip,
            projection_clip=lstm.proj_clip,
            dropout=self.dropout,
        )


def options(config: ElmoConfig) -> dict[str, Any]:
    """What options.json holds for this model."""
    return {
        "lstm": {
            "use_skip_connections": config.skip,
            "projection_dim": config.width,
            "cell_clip": config.cell_clip,
            "proj_clip": config.projection_clip,
            "dim": config.cell_width,
            "n_layers": config.n_layers,
        },
        "char_cnn": {
            "activation": config.activation,
            "embedding": {"dim": config.character_width},
            "filters": [list(pair) for pair in config.filters],
            "n_highway": config.n_highway,
            "n_characters": N_CHARACTERS + 1,  # what the reference wants for anything but training
            "max_characters_per_token": config.max_characters,
        },
        "dropout": config.dropout,
    }


@dataclass(frozen=True)
class Stored:
    """A tensor of the weights file, and what it is in the encoder."""

    name: str
    shape: tuple[int, ...]
    ours: tuple[str, ...]  # the parameters it holds
    load: Callable[[Tensor], tuple[Tensor, ...]]
    save: Callable[..., Tensor]


def tensors(config: ElmoConfig) -> list[Stored]:
    """Every tensor of the weights file."""
    found = [_same("char_embed", "words.characters", (N_CHARACTERS, config.character_width))]
    for k, (wide, n) in enumerate(config.filters):
        found.append(_kernel(f"CNN/W_cnn_{k}", f"words.kernels.{k}", (1, wide, config.character_width, n)))
        found.append(_same(f"CNN/b_cnn_{k}", f"words.biases.{k}", (n,)))
    for k in range(config.n_highway):
        for part in ("carry", "transform"):
            found += _linear(f"CNN_high_{k}", part, f"words.highways.{k}.{part}", (config.n_filters, config.n_filters))
    if config.token_projection:
        found += _linear("CNN_proj", "proj", "words.projection", (config.n_filters, config.width))
    for number in range(config.n_layers):
        for k, ours in enumerate(("ahead", "back")):
            cell = f"RNN_{k}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            found += _lstm(cell, f"layers.{number}.{ours}", config.width, config.cell_width)
    return found


def to_ours(config: ElmoConfig, arrays: Mapping[str, Array]) -> dict[str, Tensor]:
    """The encoder's parameters, from the tensors of a file."""
    return {
        name: part.contiguous()
        for stored in tensors(config)
        for name, part in zip(stored.ours, stored.load(torch.from_numpy(arrays[stored.name])), strict=True)
    }


def to_file(config: ElmoConfig, state: Mapping[str, Tensor]) -> Iterator[tuple[str, Array]]:
    """The tensors of a file one after another, from the encoder's parameters."""
    for stored in tensors(config):
        yield stored.name, stored.save(*(state[name] for name in stored.ours)).numpy()


def _same(name: str, ours: str, shape: tuple[int, ...]) -> Stored:
    return Stored(name, shape, (ours,), lambda stored: (stored,), lambda part: part)


def _transposed(name: str, ours: str, shape: tuple[int, int]) -> Stored:
    return Stored(name, shape, (ours,), lambda stored: (stored.T,), lambda part: part.T)


def _linear(name: str, part: str, ours: str, shape: tuple[int, int]) -> list[Stored]:
    return [
        _transposed(f"{name}/W_{part}", f"{ours}.weight", shape),
        _same(f"{name}/b_{part}", f"{ours}.bias", shape[1:]),
    ]


def _kernel(name: str, ours: str, shape: tuple[int, int, int, int]) -> Stored:
    """(1, characters, their width, filters) in the file; a window's characters are one row here."""
    return Stored(name, shape, (ours,), lambda stored: (stored.flatten(0, 2),), lambda part: part.reshape(shape))


def _lstm(name: str, ours: str, width: int, cell_width: int) -> list[Stored]:
    def load(stored: Tensor) -> tuple[Tensor, ...]:
        return _gates(stored.T, _FROM_FILE).chunk(2, 1)

    def save(*parts: Tensor) -> Tensor:
        return _gates(torch.cat(parts, 1), _TO_FILE).T

    weights = (f"{ours}.input.weight", f"{ours}.recurrent.weight")  # [input; recurrent] in the file
    return [
        Stored(f"{name}/W_0", (2 * width, 4 * cell_width), weights, load, save),
        Stored(
            f"{name}/B",  # without the forget gate's 1, and so it is here
            (4 * cell_width,),
            (f"{ours}.input.bias",),
            lambda stored: (_gates(stored, _FROM_FILE),),
            lambda part: _gates(part, _TO_FILE),
        ),
        _transposed(f"{name}/W_P_0", f"{ours}.projection.weight", (cell_width, width)),
    ]


def _gates(rows: Tensor, order: list[int]) -> Tensor:
    """The four gates, each a quarter of the rows, in another order."""
    return torch.cat([rows.chunk(4)[gate] for gate in order])
