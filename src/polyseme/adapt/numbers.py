"""A number for each text or pair of texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from polyseme.adapt.data import Data
from polyseme.adapt.inputs import Inputs
from polyseme.adapt.rows import Pool
from polyseme.adapt.settings import Settings
from polyseme.adapt.texts import Texts
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.heads.head import Features, Head
from polyseme.heads.pair import Pair
from polyseme.heads.regress import Regress
from polyseme.tasks import scores
from polyseme.types import Prediction


@dataclass(frozen=True)
class Numbers:
    """Where the numbers lie: the head learns them with mean 0 and spread 1."""

    mean: float
    spread: float
    texts: Texts
    level = "text"

    @classmethod
    def learn(cls, data: Data, texts: Texts) -> Self:
        values = torch.tensor([_number(label) for label in data.labels], dtype=torch.double)
        spread = float(values.std(correction=0))
        if spread == 0:
            raise Mistake(f"All {len(data)} examples have the number {values[0]:g}: there is nothing to learn.")
        return cls(float(values.mean()), spread, texts)

    def inputs(self, pretrained: Pretrained, inputs: Sequence[Any], settings: Settings) -> Inputs:
        return self.texts.inputs(pretrained, inputs, settings)

    def targets(self, inputs: Sequence[Any], labels: Sequence[Any]) -> Tensor:
        """(examples,) of mean 0 and spread 1."""
        return (torch.tensor([_number(label) for label in labels]) - self.mean) / self.spread

    def pool(self, settings: Settings) -> Pool | None:
        return self.texts.pool(settings)

    def head(self, width: int, settings: Settings) -> Head:
        assert settings.dropout is not None
        return Pair(width, 1, dropout=settings.dropout) if self.texts.apart else Regress(width, settings.dropout)

    def loss(self, head: Head, features: Features, targets: Tensor, examples: Tensor) -> Tensor:
        return head.loss(head(features), targets[examples], features.offsets)

    def predictions(self, head: Head, features: Features, inputs: Sequence[Any]) -> list[Prediction]:
        values = head(features).flatten() * self.spread + self.mean
        return [Prediction(value) for value in values.tolist()]

    def scores(self, data: Data, said: list[Prediction]) -> dict[str, float]:
        wanted, given = [_number(label) for label in data.labels], [float(one.label) for one in said]
        return {"spearman": scores.spearman(wanted, given), "pearson": scores.pearson(wanted, given)}

    def collapsed(self, said: list[Prediction], labels: Sequence[Any]) -> bool:
        return False

    def facts(self) -> dict[str, Any]:
        return {"mean": self.mean, "spread": self.spread, "pairs": self.texts.pairs}


def _number(label: Any) -> float:
    try:
        value = float(label)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise Mistake(f"The label {label!r} is no number.")
    return value
