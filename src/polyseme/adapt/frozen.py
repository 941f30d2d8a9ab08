"""A frozen encoder's rows for a whole data set: computed once, kept on disk, read by every epoch and every run."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyseme.adapt.inputs import Inputs, texts_in
from polyseme.adapt.rows import Reading, Rows
from polyseme.adapt.store import Shape, Store
from polyseme.encoders import Encoder, Pretrained
from polyseme.encoders.digest import add_weights
from polyseme.encoders.workers import at_once, evaluating, even_share, side_by_side
from polyseme.text.batches import offsets_of, ranges

_IN_MEMORY = 16  # batches whose rows are in memory at once
_VERSION = 2  # of what is kept; raise it when the same encoder and text would give other rows
_PROBE = ["The quick brown fox jumps over the lazy dog.", "Größe, naïve café; 12,345.67 — “so-called” don't!"]

Tell = Callable[[str, float, float], None]  # stage, done, total


@dataclass(frozen=True)
class FrozenRows:
    """The rows of all examples, of which some can be taken."""

    layers: list[NDArray[Any]]  # each (rows, width)
    offsets: Tensor  # (texts + 1,)
    n_each: int  # texts of an example

    def __len__(self) -> int:
        """Of examples."""
        return (len(self.offsets) - 1) // self.n_each

    @cached_property
    def tensors(self) -> list[Tensor]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # nobody writes to it
            return [torch.from_numpy(np.asarray(layer)) for layer in self.layers]

    def take(self, examples: Tensor) -> Rows:
        texts = (examples[:, None] * self.n_each + torch.arange(self.n_each)).flatten()
        counts = self.offsets.diff()[texts]
        places = ranges(self.offsets[texts], counts)
        return Rows(tuple(layer.index_select(0, places).float() for layer in self.tensors), offsets_of(counts))


def frozen_rows(
    encoder: Encoder, inputs: Inputs, reading: Reading, store: Store | None, dtype: str, tell: Tell,
    say: Callable[[str], None],
) -> FrozenRows:  # fmt: skip
    """Found under a hash of the encoder, the text and the reading; without a store they stay in memory."""
    n_texts = inputs.n_examples * inputs.n_each
    offsets = inputs.word_offsets if reading.pool == "words" else torch.arange(n_texts + 1)
    width, n_layers = reading.width(encoder), len(reading.chosen(len(encoder.widths)))
    shape = Shape(n_layers, (int(offsets[-1]), width), dtype)

    def fill(arrays: list[NDArray[Any]]) -> None:
        _fill(encoder, inputs, reading, offsets, arrays, tell)

    if store is None or shape.n_bytes == 0:
        arrays: list[NDArray[Any]] = [np.zeros(shape.shape, dtype) for _ in range(n_layers)]
        fill(arrays)
    else:
        arrays = store.arrays(_key(encoder, inputs, reading, dtype), shape, fill, say)
    return FrozenRows(arrays, offsets, inputs.n_each)


def encoder_digest(encoder: Encoder) -> str:
    """A hash of what an encoder is: its shape, every weight, and how it rounds where it does."""
    digest = hashlib.sha256(f"{encoder.family} {encoder.config.model_dump_json()} {encoder!r}".encode())
    digest.update(b"int8" if encoder.precision == "int8" else b"")  # runs begun before it was told go on
    add_weights(digest, encoder)
    return digest.hexdigest()


def reading_digest(pretrained: Pretrained) -> str:
    """A hash of an encoder and of how it reads: two that have the same give the same rows."""
    window = str(getattr(pretrained.tokenizer, "window", None))
    parts = [encoder_digest(pretrained.encoder), texts_in(pretrained, _PROBE).digest(), window]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _key(encoder: Encoder, inputs: Inputs, reading: Reading, dtype: str) -> str:
    parts = [str(_VERSION), encoder_digest(encoder), inputs.digest(), repr(reading), dtype]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _fill(
    encoder: Encoder, inputs: Inputs, reading: Reading, offsets: Tensor, arrays: list[NDArray[Any]], tell: Tell
) -> None:
    done, total, groups = 0, int(inputs.lengths.sum()), inputs.groups(encoder.budget, at_once(encoder))

    def rows_of(examples: Tensor) -> Rows:
        batch = inputs.take(examples)
        return reading.rows(encoder, encoder(batch), batch, len(examples) * inputs.n_each)

    with evaluating(encoder):
        while some := list(islice(groups, even_share(encoder, _IN_MEMORY))):
            for examples, rows in zip(some, side_by_side(encoder, some, rows_of), strict=True):
                texts = (examples[:, None] * inputs.n_each + torch.arange(inputs.n_each)).flatten()
                places = ranges(offsets[texts], offsets.diff()[texts]).numpy()
                for array, layer in zip(arrays, rows.layers, strict=True):
                    array[places] = layer.numpy()
                done += int(inputs.lengths[examples].sum())
            tell("Encoding", done, total)
