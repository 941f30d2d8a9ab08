"""Models that a verb is given by path, and the names they are shown by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyseme.encoders import Pretrained


def each(paths: Sequence[Path]) -> Iterator[tuple[str, Pretrained]]:
    """One after another, so that one at a time is in memory."""
    from polyseme.formats import load

    for name, path in zip(names(paths), paths, strict=True):
        yield name, load(path)


def names(paths: Sequence[Path]) -> list[str]:
    """The last parts of the paths, as many as it takes to tell them apart; "model" is no name.

    >>> names([Path("runs/a/bert"), Path("runs/b/bert")]), names([Path("runs/bert/model"), Path("glove.txt")])
    (['a/bert', 'b/bert'], ['bert', 'glove.txt'])
    """
    absolute = [path.absolute() for path in paths]
    parts = [(path.parent if path.name == "model" else path).parts for path in absolute]
    for n in range(1, max(map(len, parts), default=0) + 1):
        found = ["/".join(part[-n:]) for part in parts]
        if len(set(found)) == len(found):
            return found
    return [str(path) for path in paths]
