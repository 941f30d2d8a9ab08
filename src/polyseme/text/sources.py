"""The files that text was read from, for the record."""

from collections.abc import Callable, Sequence
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


def same(
    files: list[Path],
    known: Sequence[dict[str, Any]],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> bool:
    """Whether these are the known files; they are hashed only where every path and size is what it was."""
    sizes = [file.stat().st_size for file in files]
    if [*zip(map(Path.as_posix, files), sizes, strict=True)] != [(one["path"], one["size"]) for one in known]:
        return False
    for number, (file, one) in enumerate(zip(files, known, strict=True)):
        on_progress(sum(sizes[:number]), sum(sizes))
        if sha256(file) != one["sha256"]:
            return False
    return True


def shared(files: list[Path], others: list[Path]) -> list[Path]:
    """Those of the files that some other file equals; only files of one size are hashed."""
    sizes = {other.stat().st_size for other in others} & {file.stat().st_size for file in files}
    known = {sha256(other) for other in others if other.stat().st_size in sizes}
    return [file for file in files if file.stat().st_size in sizes and sha256(file) in known]


def _size_and_time(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns
