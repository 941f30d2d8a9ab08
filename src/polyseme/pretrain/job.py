"""What a run is given: its text, its folder, a model to go on from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyseme.encoders import Pretrained
from polyseme.train.checkpoint import newest
from polyseme.train.report import Report


@dataclass(frozen=True)
class Job:
    """One pretraining, whatever its family."""

    corpus: tuple[str, ...]
    valid: tuple[str, ...]
    folder: Path
    reading: dict[str, str]  # how the files are read: split, field, errors
    init: Pretrained | None
    tell: Callable[[Report], None]

    @property
    def origin(self) -> dict[str, Any]:
        """Where the model comes from that is gone on from, for the record."""
        return {} if self.init is None else {"init": self.init.provenance}

    @property
    def is_new(self) -> bool:
        """Whether the model's first weights are those it begins with: neither another's nor a checkpoint's."""
        return self.init is None and newest(self.folder) is None

    def reading_on(self, done: int, total: int) -> None:
        self.tell(Report("Reading", done, total))

    def counting(self, done: int, total: int) -> None:
        self.tell(Report("Counting neighbours", done, total))

    def comparing(self, done: int, total: int) -> None:
        self.tell(Report("Looking whether the text is the same", done, total))
