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
from polyseme.heads.regress import Regress
from polyseme.tasks import scores
from polyseme.tasks.intervals import Estimate, correlation
from polyseme.types import Prediction


@dataclass(frozen=True)
class Numbers:
    """The head learns them in units of their spread; `learned_from` is what it takes that from."""

    texts: Texts
    learned_from: Tensor | None = None  # not in a model that was loaded, whose head knows
    level = "text"

    @classmethod
    def learn(cls, data: Data, texts: Texts) -> Self:
        values = _numbers(data.labels)
        if bool((values == values[0]).all()):
            raise Mistake(f"Of {len(data)} samples each is {values[0]:g}: there is nothing to learn.")
        return cls(texts, values)

    @property
    def joined(self) -> bool:
        return self.texts.joined

    @property
    def heads(self) -> Sequence[str]:
        return self.texts.heads

    @property
    def reads(self) -> Sequence[str]:
        return self.texts.reads

    def inputs(self, pretrained: Pretrained, inputs: Sequence[Any], settings: Settings) -> Inputs:
        return self.texts.inputs(pretrained, inputs, settings)

    def targets(self, inputs: Sequence[Any], labels: Sequence[Any]) -> Tensor:
        """(examples,)"""
        return _numbers(labels)

    def pool(self, settings: Settings) -> Pool | None:
        return self.texts.pool(settings)

    def head(self, width: int, settings: Settings) -> Regress:
        assert settings.head is not None
        assert settings.dropout is not None
        head = Regress(width, "pair" if self.texts.apart else settings.head, settings.dropout)
        if self.learned_from is not None:
            head.standardise(self.learned_from)
        return head

    def loss(self, head: Head, features: Features, targets: Tensor, examples: Tensor) -> Tensor:
        return head.loss(head(features), targets[examples], features.offsets)

    def predictions(self, head: Head, features: Features, inputs: Sequence[Any]) -> list[Prediction]:
        return [Prediction(value) for value in head.decode(head(features), features.offsets).tolist()]

    def interval(self, score: float, data: Data) -> Estimate:
        return correlation(score, len(data))

    def scores(self, data: Data, said: list[Prediction]) -> dict[str, float]:
        wanted, given = [_number(label) for label in data.labels], [float(one.label) for one in said]
        return {"spearman": scores.spearman(wanted, given), "pearson": scores.pearson(wanted, given)}

    def report(self, data: Data, said: list[Prediction]) -> None:
        """There are no classes."""

    def facts(self) -> dict[str, Any]:
        return {"pairs": self.texts.pairs}


def _numbers(labels: Sequence[Any]) -> Tensor:
    """In double: seconds since 1970 have ten digits, and float32 keeps seven."""
    return torch.tensor([_number(label) for label in labels], dtype=torch.double)


def _number(label: Any) -> float:
    try:
        value = float(label)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise Mistake(f"The label {label!r} is no number.")
    return value
