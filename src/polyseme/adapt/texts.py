"""The inputs of tasks about whole texts: one a row, or two that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polyseme.adapt.inputs import Inputs, Pairs, can_join, pairs_in, texts_in
from polyseme.adapt.rows import Pool
from polyseme.adapt.settings import HeadKind, Settings
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake


@dataclass(frozen=True)
class Texts:
    """How they are read: None for single texts, else how pairs are."""

    pairs: Pairs | None

    @classmethod
    def of(cls, inputs: Sequence[Any], pretrained: Pretrained, settings: Settings, paired: bool) -> Texts:
        """A pair is a tuple of two texts. BERT that is tuned reads them as one sequence, others one by one."""
        check_inputs(inputs, paired)
        if not paired:
            return cls(None)
        joins = can_join(pretrained) and settings.tune != "frozen"
        return cls(settings.pairs or ("joined" if joins else "apart"))

    @property
    def apart(self) -> bool:
        return self.pairs == "apart"

    @property
    def joined(self) -> bool:
        return self.pairs == "joined"

    @property
    def heads(self) -> tuple[HeadKind, ...]:
        """Two texts that are read apart have a head of their own, which "linear" stands for."""
        return ("linear",) if self.apart else ("linear", "bilstm", "ulmfit")

    @property
    def reads(self) -> tuple[str, ...]:
        return ("most_windows",) if self.pairs is None else ("most_windows", "pairs")

    def inputs(self, pretrained: Pretrained, inputs: Sequence[Any], settings: Settings) -> Inputs:
        check_inputs(inputs, self.pairs is not None)
        if self.pairs is None:
            return texts_in(pretrained, inputs, settings.most_windows)
        return pairs_in(pretrained, inputs, self.pairs, settings.most_windows)

    def pool(self, settings: Settings) -> Pool | None:
        return settings.of_words() if settings.head == "bilstm" else settings.pool


def check_inputs(inputs: Sequence[Any], paired: bool) -> None:
    """Refuse a pair where texts are read one by one, and a lone text where pairs are."""
    for place, one in enumerate(inputs):
        if paired != is_pair(one):
            wanted = "a pair, as ('first text', 'second text')" if paired else "a text"
            raise Mistake(f"Input {place} is {one!r:.60}; wanted {wanted}.")


def is_pair(one: Any) -> bool:
    return isinstance(one, tuple) and len(one) == 2
