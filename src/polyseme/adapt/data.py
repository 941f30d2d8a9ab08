"""Labelled examples as a fit takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyseme.errors import Mistake
from polyseme.text.order import shuffled

_MOST_HELD_OUT, _LEAST_TO_HOLD_OUT = 2000, 100  # examples


@dataclass(frozen=True)
class Data:
    """Inputs and their labels: texts and classes, pairs and scores, words and tags, questions and spans."""

    inputs: Sequence[Any]
    labels: Sequence[Any]

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.labels):
            raise Mistake(f"There are {len(self.inputs)} inputs and {len(self.labels)} labels. Give a label each.")
        if not len(self.inputs):
            raise Mistake("There are no examples.")

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, places: Sequence[int]) -> Data:
        return Data([self.inputs[place] for place in places], [self.labels[place] for place in places])

    def parted(self, part: float, seed: int) -> tuple[Data, Data | None]:
        """What is learned from, and a part to measure epochs on; of few examples none can be spared."""
        n = len(self)
        n_held_out = min(_MOST_HELD_OUT, int(n * part))
        if n < _LEAST_TO_HOLD_OUT or not n_held_out:
            return self, None
        order = shuffled(np.arange(n), n, seed, 0).tolist()
        return self.take(sorted(order[n_held_out:])), self.take(sorted(order[:n_held_out]))
