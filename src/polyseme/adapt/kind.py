"""What each task means for a fit: how its labels become numbers, which head reads the rows, what outputs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor

from polyseme.adapt.data import Data
from polyseme.adapt.inputs import Inputs
from polyseme.adapt.rows import Pool
from polyseme.adapt.settings import Settings
from polyseme.encoders import Pretrained
from polyseme.heads.head import Features, Head
from polyseme.tasks.intervals import Estimate
from polyseme.tasks.report import Report, SpanReport
from polyseme.types import Prediction


class Kind(Protocol):
    """A task that has seen its labels."""

    level: str  # whether the head reads a "text" or its "word"s

    @property
    def heads(self) -> Sequence[str]:
        """The heads it can be fitted with."""
        ...

    @property
    def reads(self) -> Sequence[str]:
        """The settings it reads of those that not every task does."""
        ...

    @property
    def joined(self) -> bool:
        """Whether an input is two texts that are read as one sequence."""
        ...

    def inputs(self, pretrained: Pretrained, inputs: Sequence[Any], settings: Settings) -> Inputs: ...

    def targets(self, inputs: Sequence[Any], labels: Sequence[Any]) -> Any: ...

    def pool(self, settings: Settings) -> Pool | None: ...

    def head(self, width: int, settings: Settings) -> Head: ...

    def loss(self, head: Any, features: Features, targets: Any, examples: Tensor) -> Tensor: ...

    def predictions(self, head: Any, features: Features, inputs: Sequence[Any]) -> list[Prediction]: ...

    def scores(self, data: Data, said: list[Prediction]) -> dict[str, float]: ...

    def report(self, data: Data, said: list[Prediction]) -> Report | SpanReport | None:
        """The same class by class, where there are classes."""
        ...

    def interval(self, score: float, data: Data) -> Estimate:
        """Where the first of its scores lies, measured on so much."""
        ...

    def facts(self) -> dict[str, Any]:
        """What its folder must say for it to be made again."""
        ...
