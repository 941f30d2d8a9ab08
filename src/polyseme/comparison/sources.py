"""Encoders that are loaded when they are needed, under names that people can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from polyseme.adapt.frozen import reading_digest
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.formats import load

Named = str | Path | Pretrained

_MEANINGLESS = ("model", "fitted", "encoder", "checkpoint")  # folders whose parent says more


class Source:
    """An encoder's name, where it comes from, and a hash of its weights and of how it reads."""

    def __init__(self, name: str, where: Path | Pretrained) -> None:
        self.name, self._where = name, where
        self._kept: Pretrained | None = where if isinstance(where, Pretrained) else None
        self._digest = ""

    def load(self) -> Pretrained:
        if self._kept is None:
            assert not isinstance(self._where, Pretrained)
            self._kept = load(self._where)
        return self._kept

    def forget(self) -> None:
        """Give its memory back, where it can be loaded again."""
        _ = self.digest
        if not isinstance(self._where, Pretrained):
            self._kept = None

    @property
    def digest(self) -> str:
        if not self._digest:
            self._digest = reading_digest(self.load())
        return self._digest


def sources(encoders: Sequence[Named] | Mapping[str, Named]) -> list[Source]:
    """With names of their own where a mapping, or NAME=PATH, gives them; else the shortest that differ."""
    if isinstance(encoders, str | Path | Pretrained):
        encoders = [encoders]
    if not encoders:
        raise Mistake("There is no encoder to compare. Give one or more.")
    if isinstance(encoders, Mapping):
        pairs = [(name, _where(one)) for name, one in encoders.items()]
    else:
        pairs = [_split(one) for one in encoders]
    names = _distinct([name or _name(where) for name, where in pairs])
    return [Source(name, where) for name, (_, where) in zip(names, pairs, strict=True)]


def _split(one: Named) -> tuple[str, Path | Pretrained]:
    if isinstance(one, str) and "=" in one and not Path(one).exists():
        name, _, path = one.partition("=")
        return name.strip(), Path(path)
    return "", _where(one)


def _where(one: Named) -> Path | Pretrained:
    return one if isinstance(one, Pretrained) else Path(one)


def _name(where: Path | Pretrained) -> str:
    if isinstance(where, Pretrained):
        return where.encoder.family
    path = where.absolute()
    return path.parent.name if path.name in _MEANINGLESS and path.parent.name else path.name


def _distinct(names: list[str]) -> list[str]:
    """
    >>> _distinct(["bert", "elmo", "bert"])
    ['bert', 'elmo', 'bert (2)']
    """
    found: list[str] = []
    for name in names:
        number, distinct = 1, name
        while distinct in found:
            number += 1
            distinct = f"{name} ({number})"
        found.append(distinct)
    return found
