"""A fitted model: an encoder, what stands on it, and what its outputs mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from polyseme.adapt.data import Data
from polyseme.adapt.kind import Kind
from polyseme.adapt.model import Top
from polyseme.adapt.settings import Settings
from polyseme.adapt.shared import Taken
from polyseme.encoders import Pretrained
from polyseme.encoders.workers import at_once, evaluating, side_by_side
from polyseme.types import Prediction

_WINDOW = 2048  # examples that are tokenised and sorted by length together
_PART = 512  # examples whose rows are read from a cache together


@dataclass(frozen=True)
class Fitted:
    """Ready to predict, to be measured, to be saved."""

    pretrained: Pretrained
    kind: Kind
    top: Top
    settings: Settings
    metrics: dict[str, Any] = field(default_factory=dict)  # of the epoch that was kept, on what was held out

    def predict(self, inputs: Sequence[Any]) -> list[Prediction]:
        """What it says of each input."""
        return list(self.stream(inputs))

    def stream(self, inputs: Sequence[Any]) -> Iterator[Prediction]:
        """The same one at a time and in order, with bounded memory."""
        waiting = iter(inputs)
        while window := list(islice(waiting, _WINDOW)):
            yield from self._predict_window(window)

    def predict_from(self, rows: Taken, inputs: Sequence[Any]) -> list[Prediction]:
        """The same where the rows of the inputs, one after another, are there already."""
        self.top.eval()
        said = []
        with torch.inference_mode():
            for part in torch.split(torch.arange(len(inputs)), _PART):
                features = self.top.features(rows.take(part))
                said += self.kind.predictions(self.top.head, features, [inputs[place] for place in part.tolist()])
        return said

    def evaluate(self, data: Data) -> dict[str, float]:
        """The task's scores, the most telling one first."""
        return self.kind.scores(data, self.predict(data.inputs))

    def _predict_window(self, window: list[Any]) -> list[Prediction]:
        whole = self.kind.inputs(self.pretrained, window, self.settings)
        found: list[Prediction | None] = [None] * len(window)
        encoder, top = self.pretrained.encoder, self.top
        groups = list(whole.groups(encoder.budget, at_once(encoder)))

        def said(examples: Tensor) -> list[Prediction]:
            batch = whole.take(examples)
            rows = top.reading.rows(encoder, encoder(batch), batch, len(examples) * whole.n_each)
            return self.kind.predictions(top.head, top.features(rows), [window[place] for place in examples.tolist()])

        top.eval()
        with evaluating(encoder):
            made = side_by_side(encoder, groups, said)
        for examples, predictions in zip(groups, made, strict=True):
            for example, prediction in zip(examples.tolist(), predictions, strict=True):
                found[example] = prediction
        return [prediction for prediction in found if prediction is not None]
