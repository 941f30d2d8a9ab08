"""The files that text was read from, for the record."""

from pathlib import Path
from typing import Any

from polyseme.errors import BadData
from polyseme.files import sha256


def look(files: list[Path]) -> list[tuple[int, int]]:
    """Size and time of each file, to look at before it is read."""
    return [_size_and_time(file) for file in files]


def unchanged(files: list[Path], before: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Path, size and sha256 of each file; one that has changed since `look` is refused."""
    sources = []
    for file, then in zip(files, before, strict=True):
        sources.append({"path": file.as_posix(), "size": then[0], "sha256": sha256(file)})
        if _size_and_time(file) != then:
            raise BadData("the file changed while it was read. Build again when it is complete.", file)
    return sources


def _size_and_time(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns
