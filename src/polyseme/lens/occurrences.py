"""A word's vectors in all its contexts, and which contexts are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyseme.encoders import Pretrained
from polyseme.lens.in_context import Array, Span, Tell, directions, silent, vectors
from polyseme.text.mentions import Mention


@dataclass(frozen=True)
class Occurrences:
    """Mentions of a word and their directions at every layer."""

    mentions: tuple[Mention, ...]
    layers: tuple[Array, ...]  # each (mentions, width), rows of length 1, bottom first; zeros for an unknown word

    @classmethod
    def of(cls, pretrained: Pretrained, mentions: Sequence[Mention], tell: Tell = silent) -> Occurrences:
        texts = [mention.text for mention in mentions]
        spans = [Span(number, one.place, one.place + 1) for number, one in enumerate(mentions)]
        layers = vectors(pretrained, texts, spans, tell)
        return cls(tuple(mentions), tuple(directions(layer) for layer in layers))

    def cosines(self) -> list[Array]:
        """(mentions, mentions) at each layer: how alike the word is in two of them."""
        return [layer @ layer.T for layer in self.layers]

    def nearest(self, asked: Occurrences, layer: int, n: int = 5) -> list[list[tuple[Mention, float]]]:
        """For each mention that is asked about the n of these that are most like it, with their cosines.

        A mention of the very same text is left out: whoever asks about a sentence of the corpus knows it already.
        """
        cosines = asked.layers[layer] @ self.layers[layer].T
        found = []
        for mention, row in zip(asked.mentions, cosines, strict=True):
            best = np.argsort(-row, kind="stable")
            others = [place for place in best if self.mentions[place].text.string != mention.text.string]
            found.append([(self.mentions[place], float(row[place])) for place in others[:n]])
        return found
