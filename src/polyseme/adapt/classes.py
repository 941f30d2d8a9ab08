"""Classes of texts or of pairs of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from polyseme.errors import Mistake, did_you_mean, listed
from polyseme.heads.classify import Classify
from polyseme.heads.head import Features, Head
from polyseme.tasks import scores
from polyseme.tasks.intervals import Estimate, share
from polyseme.tasks.report import Report, report
from polyseme.types import Prediction

_NEARLY_ALL = 0.9
_TYPES: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float, "bool": "True".__eq__}


@dataclass(frozen=True)
class Classes:
    """The names of the classes, in the order of the head's outputs."""

    names: tuple[str, ...]
    texts: Texts
    label_type: str = "str"  # of the labels that were learned from
    level = "text"

    @classmethod
    def learn(cls, data: Data, texts: Texts) -> Self:
        names = tuple(sorted({str(label) for label in data.labels}))
        if len(names) < 2:
            raise Mistake(f"All {len(data)} examples are of one class, {names[0]!r}. Two are the least to tell apart.")
        types = {type(label).__name__ for label in data.labels}
        return cls(names, texts, types.pop() if len(types) == 1 and types <= _TYPES.keys() else "str")

    @property
    def labels(self) -> list[Any]:
        """The classes as they were given, in the order of their names."""
        return list(map(_TYPES[self.label_type], self.names))

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
        """(examples,) numbers of classes."""
        number = {name: place for place, name in enumerate(self.names)}
        for label in labels:
            if str(label) not in number:
                near = did_you_mean(str(label), self.names)
                raise Mistake(f"The label {label!r} is none of those learned from: {listed(self.names)}.{near}")
        return torch.tensor([number[str(label)] for label in labels])

    def pool(self, settings: Settings) -> Pool | None:
        return self.texts.pool(settings)

    def head(self, width: int, settings: Settings) -> Head:
        assert settings.head is not None
        assert settings.dropout is not None
        return Classify(width, len(self.names), "pair" if self.texts.apart else settings.head, settings.dropout)

    def loss(self, head: Head, features: Features, targets: Tensor, examples: Tensor) -> Tensor:
        return head.loss(head(features), targets[examples], features.offsets)

    def predictions(self, head: Head, features: Features, inputs: Sequence[Any]) -> list[Prediction]:
        chances = head(features).softmax(1)  # (examples, classes)
        best = chances.argmax(1).tolist()
        return [
            Prediction(self.names[number], dict(zip(self.names, row, strict=True)))
            for number, row in zip(best, chances.tolist(), strict=True)
        ]

    def interval(self, score: float, data: Data) -> Estimate:
        return share(score * len(data), len(data))

    def scores(self, data: Data, said: list[Prediction]) -> dict[str, float]:
        wanted, given = [str(label) for label in data.labels], [str(one.label) for one in said]
        return {
            "accuracy": scores.accuracy(wanted, given),
            "macro_f1": scores.macro_f1(wanted, given),
            "matthews": scores.matthews(wanted, given),
        }

    def report(self, data: Data, said: list[Prediction]) -> Report:
        return report([str(label) for label in data.labels], [str(one.label) for one in said])

    def collapsed(self, said: list[Prediction], labels: Sequence[Any]) -> bool:
        """Whether one class is said of everything though there are several, and not nearly all are of that one."""
        given = {one.label for one in said}
        n_right = sum(str(label) in given for label in labels)
        return len(given) == 1 and n_right < _NEARLY_ALL * len(labels)

    def facts(self) -> dict[str, Any]:
        return {"names": list(self.names), "pairs": self.texts.pairs, "label_type": self.label_type}
