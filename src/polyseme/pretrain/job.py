"""What a run is given: its text, its folder, a model to go on from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from polyseme.encoders import Pretrained
from polyseme.pretrain.corpus import Corpus, prepare
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

    def words(self) -> Corpus:
        """The text as words, for families that read whole words."""
        return prepare(self.corpus, self.valid, self.folder, self.reading, self.reading_on)

    def reading_on(self, done: int, total: int) -> None:
        self.tell(Report("Reading", done, total))
