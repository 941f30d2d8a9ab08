"""What several fits share: each text is tokenised once, and read by a frozen encoder once."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from polyseme.adapt.frozen import FrozenRows
from polyseme.adapt.inputs import Inputs
from polyseme.adapt.kind import Kind
from polyseme.adapt.rows import Reading, Rows
from polyseme.adapt.settings import Settings
from polyseme.encoders import Pretrained


class Taken(Protocol):
    """Rows of examples, of which some can be taken."""

    def take(self, examples: Tensor) -> Rows: ...


@dataclass(frozen=True)
class PartOfRows:
    """The rows of some examples among those of all."""

    whole: Taken
    places: Tensor  # (examples,)

    def take(self, examples: Tensor) -> Rows:
        return self.whole.take(self.places[examples])


class Shared:
    """All inputs of several fits on one encoder, whose weights are the same whenever a frozen fit begins."""

    def __init__(self, pretrained: Pretrained, inputs: Sequence[Any]) -> None:
        self.pretrained = pretrained
        self.everything = list({repr(one): one for one in inputs}.values())
        self.seconds = 0.0  # spent on reading texts with the frozen encoder
        self._places = {repr(one): place for place, one in enumerate(self.everything)}
        self._inputs: dict[Hashable, Inputs] = {}
        self._rows: dict[Hashable, FrozenRows] = {}

    def inputs(self, kind: Kind, some: Sequence[Any], settings: Settings) -> Inputs:
        """The pieces of these examples."""
        return _part(self._whole(kind, settings), self.places(some))

    def rows(
        self, kind: Kind, some: Sequence[Any], settings: Settings, reading: Reading,
        make: Callable[[Inputs], FrozenRows],
    ) -> Taken:  # fmt: skip
        """What a frozen encoder gives for these examples; `make` is asked once for the rows of all inputs."""
        key = _key(kind, settings, reading)
        if key not in self._rows:
            began = time.monotonic()
            self._rows[key] = make(self._whole(kind, settings))
            self.seconds += time.monotonic() - began
        return PartOfRows(self._rows[key], self.places(some))

    def known(self, kind: Kind, some: Sequence[Any], settings: Settings, reading: Reading) -> Taken | None:
        """The rows of these examples where they have been asked for before."""
        found = self._rows.get(_key(kind, settings, reading))
        return None if found is None else PartOfRows(found, self.places(some))

    def places(self, some: Sequence[Any]) -> Tensor:
        """(examples,) where each of them is among all inputs."""
        return torch.tensor([self._places[repr(one)] for one in some])

    def _whole(self, kind: Kind, settings: Settings) -> Inputs:
        key = _tokenising(kind, settings)
        if key not in self._inputs:
            self._inputs[key] = kind.inputs(self.pretrained, self.everything, settings)
        return self._inputs[key]


def _key(kind: Kind, settings: Settings, reading: Reading) -> Hashable:
    return _tokenising(kind, settings), reading, settings.cache_dtype


def _tokenising(kind: Kind, settings: Settings) -> Hashable:
    """All that a kind's inputs depend on beside the texts and the tokenizer."""
    return type(kind).__name__, kind.facts().get("pairs"), settings.most_windows


def _part(whole: Inputs, places: Tensor) -> Inputs:
    return Inputs(whole.take(places), len(places), whole.n_each)
