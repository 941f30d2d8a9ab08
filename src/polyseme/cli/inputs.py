"""The texts that a file holds: a line each, or a column of a table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")


def read_texts(path: Path, column: str | None, say: Callable[[str], None]) -> list[Any]:
    """Those of a table's text column, which is guessed where none is chosen; of any other file the lines."""
    from polyseme.errors import Mistake
    from polyseme.tasks.reading import Columns, read

    if is_table(path):
        found = read("classify", path, Columns(text=column), labelled=False)
        for line in found.said:
            say(line)
        return found.inputs
    if column is not None:
        raise Mistake(f"--text {column} is a column, and {path} is no table: tables are {', '.join(_TABLES)}.")
    return list(read_lines(path))


def split_words(texts: list[Any]) -> list[Any]:
    """Texts that are words with spaces between them, as these words."""
    return [text.split() if isinstance(text, str) else text for text in texts]


def is_table(path: Path) -> bool:
    """Whether its name says that it has columns; it may be compressed."""
    from polyseme.tasks.lines import kind

    return kind(path) in _TABLES


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, compressed or not, or of standard input for -."""
    from polyseme.errors import BadData

    content = _content(path)
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadData("this is not UTF-8. Save the file as UTF-8.", path, line) from None
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def _content(path: Path) -> bytes:
    from polyseme.errors import BadFile, Mistake
    from polyseme.text.streams import blocks

    if str(path) == "-":
        if sys.stdin is None:  # closed by who began this
            raise Mistake("There is no standard input to read texts from. Name a file, or send text in.")
        return sys.stdin.buffer.read()
    try:
        return b"".join(blocks(path))
    except OSError as error:
        hint = " Texts stand in a file, or come in by -." if " " in path.name and not path.exists() else ""
        raise BadFile(f"{path} cannot be read: {error.strerror}.{hint}") from None
