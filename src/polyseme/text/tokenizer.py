"""What a tokenizer is: Texts in, one Batch out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Self

from polyseme.types import Batch, Text


class Tokenizer(Protocol):
    """Turns Texts into pieces, each of which knows its word; it splits no string into words itself."""

    def encode(self, texts: Sequence[Text]) -> Batch:
        """All texts, in order, as one Batch."""
        ...

    def pieces(self, batch: Batch) -> list[str]:
        """The piece at each position, to show to people."""
        ...

    def write(self, folder: Path) -> None:
        """Put the files it is read from into a folder."""
        ...

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The tokenizer that `write` put into a folder."""
        ...
