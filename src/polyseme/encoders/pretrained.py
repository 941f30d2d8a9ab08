"""What pretraining makes, adapting consumes and disk holds: a tokenizer and its encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from polyseme.encoders.encoder import Directions, Encoder
from polyseme.encoders.workers import at_once, evaluating, side_by_side
from polyseme.errors import Mistake
from polyseme.layers.mix import Layers, choose
from polyseme.layers.pool import to_words, total
from polyseme.layers.products import Precision, check_precision
from polyseme.text.batches import groups, offsets_of, take
from polyseme.text.tokenizer import Tokenizer
from polyseme.text.words import to_text
from polyseme.types import Batch, Encoding, Text

Level = Literal["word", "piece", "text"]
Array = NDArray[np.float32]

_WINDOW = 4096  # texts sorted by length together; bounds what is held at once


@dataclass(frozen=True)
class Embedded:
    """The vectors of one text: a row a word, a row a piece, or one row; with layers="all" a leading axis of layers."""

    text: Text
    rows: list[str]  # the word or piece of each row; empty for level="text"
    vectors: Array


@dataclass(frozen=True)
class Pretrained:
    """A tokenizer, the encoder that goes with it, and where they come from."""

    tokenizer: Tokenizer
    encoder: Encoder
    provenance: dict[str, Any] = field(default_factory=dict)
    lm: nn.Module | None = None  # the output layer it was pretrained with; many files leave it out

    def __repr__(self) -> str:
        """A line: a vocabulary or a config would fill pages."""
        n_parameters = sum(parameter.numel() for parameter in self.encoder.parameters())
        widths = ", ".join(map(str, self.encoder.widths))
        return f"<Pretrained {self.encoder.family}: layers of {widths}; {n_parameters:,} parameters>"

    def compute_in(self, precision: Precision) -> Self:
        """Let the encoder's products be of 8 bits ("int8") where nothing learns, or of all again; parameters stay as
        they are."""
        check_precision(precision)
        if self.encoder.precision is not None:
            self.encoder.precision = precision
        elif precision != "float32":
            raise Mistake(f"precision={precision!r} is for BERT and ELMo; this is {self.encoder.family}. Leave it out.")
        return self

    def embed(
        self,
        texts: Iterable[str | Sequence[str]],
        layers: Layers = "top",
        level: Level = "word",
        directions: Directions = "both",
    ) -> list[Array] | Array:
        """One (words, width) array a text; for level="text" one (texts, width) array of the means over its words.

        A text is a string, or the list of its words where it is split already. `directions` is for encoders that read
        both ways: "forward" or "backward" gives one half of every layer.
        """
        vectors = [embedded.vectors for embedded in self.stream(texts, layers, level, directions)]
        if level != "text":
            return vectors
        if not vectors:
            none = np.asarray(self.embed([""], layers, level, directions))
            return none[..., :0, :]  # as wide as that of a text would be
        return np.concatenate(vectors, 1 if layers == "all" else 0)

    def stream(
        self,
        texts: Iterable[str | Sequence[str]],
        layers: Layers = "top",
        level: Level = "word",
        directions: Directions = "both",
    ) -> Iterator[Embedded]:
        """The same, one text at a time and in order, with bounded memory."""
        if level not in ("word", "piece", "text"):
            raise Mistake(f"level={level!r} is not known. Use 'word', 'piece' or 'text'.")
        if isinstance(texts, str):
            raise Mistake("embed() takes a list of texts; one string was given. Write embed([text]).")
        waiting = iter(texts)
        while window := [to_text(text) for text in islice(waiting, _WINDOW)]:
            yield from self._embed_window(window, layers, level, directions)

    def _embed_window(
        self, window: list[Text], layers: Layers, level: Level, directions: Directions
    ) -> Iterator[Embedded]:
        whole = self.tokenizer.encode(window)

        def embedded(group: Tensor) -> list[Tensor]:
            batch = take(whole, group)
            encoding = self.encoder.directed(self.encoder(batch), directions)
            vectors, offsets = _rows(encoding, batch, layers, level)
            return list(torch.split(vectors, offsets.diff().tolist(), -2))

        parts = list(groups(whole.lengths, self.encoder.budget, times=at_once(self.encoder)))
        with evaluating(self.encoder):
            made = side_by_side(self.encoder, parts, embedded)
        found: list[Tensor] = [torch.empty(0)] * whole.n_sequences
        for sequence, vectors in zip(torch.cat(parts).tolist(), chain.from_iterable(made), strict=True):
            found[sequence] = vectors
        yield from self._in_order(window, whole, found, level)

    def _in_order(self, window: list[Text], whole: Batch, found: list[Tensor], level: Level) -> Iterator[Embedded]:
        """Each text's vectors, the sequences of a long text joined again."""
        pieces, starts = self._own_pieces(whole) if level == "piece" else ([], [])
        first = torch.searchsorted(whole.texts, torch.arange(len(window) + 1)).tolist()
        for number, text in enumerate(window):
            parts = found[first[number] : first[number + 1]]
            vectors = (parts[0] if len(parts) == 1 else torch.cat(parts, -2)).numpy()
            match level:
                case "word":
                    yield Embedded(text, text.words, vectors)
                case "piece":
                    yield Embedded(text, pieces[starts[first[number]] : starts[first[number + 1]]], vectors)
                case "text":
                    yield Embedded(text, [], vectors.sum(-2, keepdims=True) / max(1, len(text.spans)))

    def _own_pieces(self, whole: Batch) -> tuple[list[str], list[int]]:
        """The pieces of all sequences, those that windows share only once, and where each sequence's begin."""
        pieces = self.tokenizer.pieces(whole)
        if whole.owned is None:
            return pieces, whole.offsets.tolist()
        return list(compress(pieces, whole.owned.tolist())), _own_offsets(whole.owned, whole.offsets).tolist()


def _rows(encoding: Encoding, batch: Batch, layers: Layers, level: Level) -> tuple[Tensor, Tensor]:
    """The vectors asked for, (…, rows, width), and where each sequence's begin."""
    if layers != "all":  # pooling is linear: what is chosen first need not be pooled for every layer
        encoding = replace(encoding, layers=(choose(encoding.layers, layers),))
    if level == "piece":
        vectors = _joined(encoding, layers)
        if batch.owned is None:
            return vectors, encoding.offsets
        return vectors[..., batch.owned, :], _own_offsets(batch.owned, encoding.offsets)
    words = to_words(encoding, batch)
    if level == "word":
        return _joined(words, layers), words.offsets
    pooled = tuple(total(layer, words.offsets) for layer in words.layers)  # the mean is over all windows of a text
    return _joined(replace(words, layers=pooled), layers), torch.arange(batch.n_sequences + 1)


def _joined(encoding: Encoding, layers: Layers) -> Tensor:
    return choose(encoding.layers, "all") if layers == "all" else encoding.layers[0]


def _own_offsets(owned: Tensor, offsets: Tensor) -> Tensor:
    """Where each sequence's own rows begin once the others are gone."""
    return offsets_of(owned.long())[offsets]
