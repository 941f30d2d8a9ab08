"""The words nearest to a word, by the cosine of their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake, did_you_mean
from polyseme.formats.vectors import static_parts, table
from polyseme.lens.in_context import directions


@dataclass(frozen=True)
class Neighbours:
    """All words of a vocabulary with their directions."""

    pretrained: Pretrained
    words: tuple[str, ...]
    directions: NDArray[np.float32]  # (words, width), each of length 1

    @classmethod
    def of(cls, pretrained: Pretrained) -> Neighbours:
        words, rows = table(pretrained)
        return cls(pretrained, words, directions(rows))

    def nearest(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """The n nearest words and their cosines, the word itself left out."""
        direction = directions(cast(list[NDArray[np.float32]], self.pretrained.embed([[word]]))[0])
        if not direction.any() and word in self.words:
            raise Mistake(f"The vector of {word!r} is all zeros: nothing is near it.")
        if not direction.any():
            raise Mistake(f"{word!r} has no vector here.{did_you_mean(word, self.words[:50_000])}")
        cosines = self.directions @ direction[0]
        tokenizer, _ = static_parts(self.pretrained)
        own = [row for row in tokenizer.bag(word) if row < len(self.words)]  # also where another form stands for it
        cosines[own] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(n, len(self.words) - len(own))]
        return [(self.words[row], float(cosines[row])) for row in best]
