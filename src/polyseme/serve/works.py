"""What is computed in a thread: a model and some inputs in, a result an input out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyseme.adapt.fitted import Fitted
from polyseme.adapt.model import Top
from polyseme.encoders import Pretrained
from polyseme.encoders.encoder import Directions
from polyseme.heads.head import Features
from polyseme.layers.mix import Layers, choose
from polyseme.layers.pool import mean, to_words, total
from polyseme.lens.fill import Filling, fill
from polyseme.lens.score import Score, score
from polyseme.serve.examples import Example, joined
from polyseme.types import Batch, Encoding, Prediction

Array = NDArray[np.float32]


def sentence_vectors(pretrained: Pretrained, pooling: Literal["mean", "cls"], some: Sequence[Example]) -> list[Array]:
    """One vector an input, over all its pieces; it is not normalised."""
    _, encoding = _read(pretrained, some)
    top = encoding.layers[-1]
    vectors = top[encoding.offsets[:-1]] if pooling == "cls" else mean(top, encoding.offsets)
    return list(vectors.numpy())


def text_vectors(pretrained: Pretrained, some: Sequence[Example]) -> list[Array]:
    """One vector an input, the mean over its words in all its windows: what embed(level="text") gives."""
    batch, encoding = _read(pretrained, some)
    words = to_words(replace(encoding, layers=encoding.layers[-1:]), batch)
    sums = total(words.layers[0], words.offsets)  # (sequences, width)
    rows = sums.new_zeros(len(some), sums.shape[1]).index_add_(0, batch.texts, sums)
    counts = batch.n_words.new_zeros(len(some)).index_add_(0, batch.texts, batch.n_words)
    return list((rows / counts.clamp(min=1).unsqueeze(1)).numpy())


def piece_vectors(pretrained: Pretrained, some: Sequence[Example]) -> list[Array]:
    """A vector a piece, of the top layer."""
    batch, encoding = _read(pretrained, some)
    return [part.numpy() for part in torch.split(encoding.layers[-1], _by_text(batch, encoding.offsets, len(some)))]


def word_vectors(
    pretrained: Pretrained, layers: Layers, directions: Directions, some: Sequence[Example]
) -> list[Array]:
    """A vector a word, (words, width), or with layers="all" (layers, words, width)."""
    batch, encoding = _read(pretrained, some)
    encoding = pretrained.encoder.directed(encoding, directions)
    if layers != "all":
        encoding = replace(encoding, layers=(choose(encoding.layers, layers),))
    words = to_words(encoding, batch)
    vectors = choose(words.layers, "all") if layers == "all" else words.layers[0]
    return [part.numpy() for part in torch.split(vectors, _by_text(batch, words.offsets, len(some)), -2)]


def chosen_words(pretrained: Pretrained, some: Sequence[Example]) -> list[list[Array]]:
    """The vectors of the words an input asks for (`given`), layer by layer: each (chosen, width)."""
    batch, encoding = _read(pretrained, some)
    words = to_words(encoding, batch)
    starts = np.cumsum([0, *_by_text(batch, words.offsets, len(some))])
    rows = [torch.tensor(example.given) + int(start) for example, start in zip(some, starts, strict=False)]
    return [[layer[places].numpy() for layer in words.layers] for places in rows]


def predictions(fitted: Fitted, some: Sequence[Example]) -> list[Prediction]:
    """What a fitted model says; `given` is the input as it came."""
    features = features_of(fitted, fitted.top, some)
    return fitted.kind.predictions(fitted.top.head, features, [example.given for example in some])


def features_of(fitted: Fitted, top: Top, some: Sequence[Example]) -> Features:
    """What a head reads of the inputs."""
    inputs, encoder = joined(some), fitted.pretrained.encoder
    rows = top.reading.rows(encoder, encoder(inputs.batch), inputs.batch, inputs.n_examples * inputs.n_each)
    return top.features(rows)


def fillings(pretrained: Pretrained, n: int, texts: Sequence[str]) -> list[list[Filling]]:
    return [fill(pretrained, text, n) for text in texts]


def scores(pretrained: Pretrained, within_word: bool, texts: Sequence[Any]) -> list[Score]:
    return list(score(pretrained, texts, within_word))


def _read(pretrained: Pretrained, some: Sequence[Example]) -> tuple[Batch, Encoding]:
    batch = joined(some).batch
    return batch, pretrained.encoder(batch)


def _by_text(batch: Batch, offsets: Tensor, n_texts: int) -> list[int]:
    """How many rows each text has; the sequences of a text stand together."""
    firsts = torch.searchsorted(batch.texts, torch.arange(n_texts + 1))
    counts: list[int] = offsets[firsts].diff().tolist()
    return counts
