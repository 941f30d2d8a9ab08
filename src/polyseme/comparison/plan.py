"""The product of encoders, layers, tunings, label counts and seeds, as a list of single fits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from polyseme.adapt.data import Data
from polyseme.adapt.fit import make_top, settled
from polyseme.adapt.kinds import kind_for
from polyseme.adapt.rows import Layers, reading
from polyseme.adapt.settings import Settings, settings
from polyseme.comparison.sources import Source
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake

_VERSION = 2  # raise it when the same cell would come to another result
_TWO_SEEDS = "Two seeds hardly tell how much seeds differ, so that intervals are wide; with three or more they narrow."


@dataclass(frozen=True)
class Axes:
    """What is to be compared; `chosen` are the settings that all fits share."""

    layers: tuple[str | int, ...] = ("top",)
    tune: tuple[str, ...] = ("frozen",)
    labels: tuple[int | Literal["all"], ...] = ("all",)
    seeds: tuple[int, ...] = (0, 1, 2)
    scratch: bool = False
    chosen: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """What is named twice is fitted once: a fit that counts as two would seem surer than it is."""
        for name in ("layers", "tune", "labels", "seeds"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))

    def settings(self, layers: str | int, tune: str, seed: int = 0) -> Settings:
        """Those of one fit; what is about mixes is left out where others of the comparison have one."""
        shared = dict(self.chosen)
        if layers != "mix" and "mix" in self.layers:
            shared = {name: value for name, value in shared.items() if not name.startswith("mix_")}
        return settings(**{**shared, "layers": layers, "tune": tune, "seed": seed})

    def check(self) -> None:
        """Refuse what is spelled wrong before any text is read."""
        for name, axis in (("layers", "layers"), ("tune", "tune"), ("seed", "seeds")):
            if name in dict(self.chosen):
                raise Mistake(f"{name} differs from fit to fit, so it is no setting that all share. Give {axis}.")
        if not all((self.layers, self.tune, self.labels, self.seeds)):
            raise Mistake("An axis of the comparison is empty. Give one value or more, or leave it out.")
        for count in self.labels:
            if count != "all" and (not isinstance(count, int) or count < 2):
                raise Mistake(f"labels={count!r} cannot be learned from. Wanted: a number, 2 or more, or 'all'.")
        for layers, tune, seed in product(self.layers, self.tune, self.seeds):
            self.settings(layers, tune, seed)


@dataclass(frozen=True)
class Way:
    """One row of the table, but for how many labels it has seen."""

    encoder: str
    family: str
    layers: str | int
    tune: str
    scratch: bool = False

    def __str__(self) -> str:
        return " · ".join([self.encoder, *(["from scratch"] if self.scratch else []), f"{self.layers}", self.tune])


@dataclass(frozen=True)
class Cell:
    """One fit. Its id is a hash of all that decides what comes out."""

    way: Way
    n_labels: int
    seed: int
    settings: Settings
    id: str


@dataclass(frozen=True)
class Plan:
    """All fits, those of an encoder together; and what was left out, with the reason."""

    cells: tuple[Cell, ...]
    said: tuple[str, ...]

    @property
    def ways(self) -> list[Way]:
        return list(dict.fromkeys(cell.way for cell in self.cells))


def plan(task: str, axes: Axes, sources: Sequence[Source], train: Data, data_digest: str) -> Plan:
    """Combinations that cannot be, or that another one stands for, are left out and said."""
    said = [_TWO_SEEDS] if len(axes.seeds) == 2 else []
    counts = _counts(axes, len(train), said)
    cells = []
    for source in sources:
        pretrained = source.load()
        for way in _ways(task, axes, source.name, pretrained, train, said):
            for n_labels in counts:
                for seed in axes.seeds:
                    chosen = axes.settings(way.layers, way.tune, seed)
                    named = chosen.model_dump(exclude_defaults=True)  # new settings leave old fits as they are
                    facts = [_VERSION, task, data_digest, source.digest, way.scratch, n_labels, named]
                    cells.append(Cell(way, n_labels, seed, chosen, _id(facts)))
        source.forget()
    if not cells:
        raise Mistake(f"Nothing is left to compare. {' '.join(said)}")
    return Plan(tuple(cells), tuple(said))


def _ways(task: str, axes: Axes, name: str, pretrained: Pretrained, train: Data, said: list[str]) -> Iterator[Way]:
    family, seen = pretrained.encoder.family, dict[Any, str | int]()
    for layers in axes.layers:
        if (problem := _same(pretrained, layers, seen)) is not None:
            said.append(f"{name} with layers={layers} is left out: {problem}")
            continue
        for tune in axes.tune:
            chosen = axes.settings(layers, tune)
            try:
                _check(task, chosen, pretrained, train)
            except Mistake as mistake:
                said.append(f"{name} with layers={layers}, tune={tune} is left out: {mistake}")
                continue
            yield Way(name, family, chosen.layers, tune)
    if axes.scratch:
        yield Way(name, family, "top", "full", scratch=True)


def _check(task: str, chosen: Settings, pretrained: Pretrained, train: Data) -> None:
    """Whether the head, the layers and the pooling go together with this encoder; a Mistake says why not."""
    kind = kind_for(task, train, pretrained, chosen)
    make_top(pretrained, kind, settled(kind, pretrained, chosen, len(train)))


def _same(pretrained: Pretrained, layers: str | int, seen: dict[Any, str | int]) -> str | None:
    """Why this choice of layers is no other one: an encoder of one layer has nothing to mix."""
    how = settings(layers=layers).layers
    try:
        read = _read(pretrained, how)
    except Mistake:
        return None  # said for each tuning
    if read in seen:
        return f"it reads what layers={seen[read]} does."
    seen[read] = layers
    return None


def _read(pretrained: Pretrained, layers: Layers) -> Any:
    chosen = reading(pretrained, layers, "mean").chosen(len(pretrained.encoder.widths))
    return chosen if len(chosen) == 1 else (layers, chosen)


def _counts(axes: Axes, n_train: int, said: list[str]) -> list[int]:
    counts = []
    for asked in axes.labels:
        count = n_train if asked == "all" else asked
        if count > n_train:
            said.append(f"{count:,} labels were asked for; there are {n_train:,} to learn from, so these are all.")
        counts.append(min(count, n_train))
    return sorted(set(counts))


def _id(facts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
