"""The vectors of chosen words of texts, at every layer of any encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyseme.adapt.inputs import Inputs, texts_in
from polyseme.adapt.rows import Reading
from polyseme.encoders import Pretrained
from polyseme.encoders.workers import at_once, evaluating, even_share, side_by_side
from polyseme.errors import Mistake
from polyseme.layers.pool import mean
from polyseme.types import Text

Array = NDArray[np.float32]
Ids = NDArray[np.int64]
Tell = Callable[[float, float], None]  # done, in all
Words = str | Sequence[str] | Text

_WINDOW = 1024  # texts that are tokenised and sorted by length together
_IN_MEMORY = 8  # batches whose vectors are in memory at once
_ALL = Reading("mix", "words")  # every layer, a row a word; no mix is made of them, so that widths may differ


class Span(NamedTuple):
    """Words from start to end of one of the texts; its vector is the mean of theirs."""

    text: int
    start: int
    end: int


class Vectors(NamedTuple):
    """Some of the spans that were asked for."""

    numbers: Ids  # (spans,) which ones
    layers: list[Array]  # each (spans, width), bottom first


def silent(done: float, total: float) -> None:
    """For whoever wants to hear nothing."""


def vectors(pretrained: Pretrained, texts: Sequence[Words], spans: Sequence[Span], tell: Tell = silent) -> list[Array]:
    """One (spans, width) array a layer."""
    found = [np.zeros((len(spans), width), np.float32) for width in pretrained.encoder.widths]
    for some in stream(pretrained, texts, spans, tell):
        for layer, rows in zip(found, some.layers, strict=True):
            layer[some.numbers] = rows
    return found


def stream(
    pretrained: Pretrained, texts: Sequence[Words], spans: Sequence[Span], tell: Tell = silent
) -> Iterator[Vectors]:
    """The same in bounded memory, a batch at a time in no order but this: the spans of a text come together."""
    order = np.array(sorted(range(len(spans)), key=lambda number: spans[number].text), dtype=np.int64)
    of_text = np.array([spans[number].text for number in order], dtype=np.int64)
    used = np.unique(of_text)  # a text without spans is not read
    done = 0
    for first in range(0, len(used), _WINDOW):
        window = used[first : first + _WINDOW]
        inputs = texts_in(pretrained, [texts[number] for number in window])
        bounds = np.searchsorted(of_text, [*window, window[-1] + 1])  # (texts + 1,) of each text's spans in order
        for some in _window(pretrained, inputs, spans, order, bounds):
            yield some
            done += len(some.numbers)
            tell(done, len(spans))


def words_of(texts: Sequence[Text]) -> list[Span]:
    """A span for every word of every text."""
    return [Span(number, place, place + 1) for number, text in enumerate(texts) for place in range(len(text.spans))]


def layer_number(pretrained: Pretrained, layer: int, name: str = "this encoder") -> int:
    """A layer counted from the bottom; -1 is the top."""
    n = len(pretrained.encoder.widths)
    if not -n <= layer < n:
        raise Mistake(f"layer={layer} was asked for; {name} has the layers 0 (context-free) to {n - 1} (top).")
    return layer % n


def directions(rows: NDArray[np.floating]) -> Array:
    """The same rows with length 1; one of zeros, which an unknown word has, stays one."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    found: Array = (rows / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return found


def _window(
    pretrained: Pretrained, inputs: Inputs, spans: Sequence[Span], order: Ids, bounds: Ids
) -> Iterator[Vectors]:
    encoder = pretrained.encoder

    def chosen(examples: Tensor) -> Vectors:
        batch = inputs.take(examples)
        rows = _ALL.rows(encoder, encoder(batch), batch, len(examples))
        ranges = [order[bounds[example] : bounds[example + 1]] for example in examples.tolist()]
        places, offsets = _places([[spans[n] for n in numbers] for numbers in ranges], rows.offsets.tolist())
        return Vectors(np.concatenate(ranges), [mean(layer[places], offsets).numpy() for layer in rows.layers])

    groups = inputs.groups(encoder.budget, at_once(encoder))
    with evaluating(encoder):
        while some := list(islice(groups, even_share(encoder, _IN_MEMORY))):
            yield from side_by_side(encoder, some, chosen)


def _places(spans: Sequence[Sequence[Span]], starts: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The rows of all spans' words one after another, and where each span's begin."""
    places: list[int] = []
    offsets = [0]
    for of_text, (first, last) in zip(spans, pairwise(starts), strict=True):
        for span in of_text:
            assert 0 <= span.start < span.end <= last - first, f"{span} of {last - first} words"
            places += range(first + span.start, first + span.end)
            offsets.append(len(places))
    return torch.tensor(places, dtype=torch.long), torch.tensor(offsets)
