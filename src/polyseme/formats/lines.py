"""Word vectors as text, `word v1 … vD` a line, read many lines at a time."""

import codecs
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from polyseme.errors import BadData, BadFile
from polyseme.formats.vectors import Rows, check_words, decoded, opened

_LINES = 8192
_LONGEST_LINE = 1 << 20


def read_lines(path: Path, width: int, skip: int = 0) -> tuple[list[str], Rows]:
    """The words and their vectors, behind the first `skip` lines."""
    words: list[str] = []
    blocks: list[Rows] = []
    with opened(path) as file:
        for _ in range(skip):
            file.readline(_LONGEST_LINE)
        first = skip + 1
        while lines := [line.rstrip() for line in islice(file, _LINES)]:
            found, block = _parse(path, lines, width, first)
            if first == 1 and found:
                found[0] = found[0].removeprefix(codecs.BOM_UTF8)
            words += [decoded(word) for word in found]
            blocks.append(block)
            first += len(lines)
    if not blocks:
        raise BadFile(f"{path} holds no vectors.")
    return words, np.concatenate(blocks)


def write_lines(path: Path, words: Sequence[str], rows: Rows, header: bytes = b"") -> None:
    """A line a word, each number with the nine digits that read back to the same float32."""
    check_words(words, "\n\r\t\x0b\x0c", path)
    numbers = " ".join(["%.9g"] * rows.shape[1])
    with path.open("wb") as file:
        file.write(header)
        for word, row in zip(words, rows, strict=True):
            file.write(word.encode(errors="surrogatepass") + b" " + (numbers % tuple(row.tolist())).encode() + b"\n")


def _parse(path: Path, lines: list[bytes], width: int, first: int) -> tuple[list[bytes], Rows]:
    halves = [line.split(None, 1) for line in lines if line]
    try:
        if any(half[1].count(b" ") != width - 1 for half in halves):
            return _parse_one_by_one(path, lines, width, first)
        numbers = np.array(b" ".join([half[1] for half in halves]).split(b" "), dtype=np.float32)
        return [half[0] for half in halves], numbers.reshape(len(halves), width)
    except (IndexError, ValueError):
        return _parse_one_by_one(path, lines, width, first)


def _parse_one_by_one(path: Path, lines: list[bytes], width: int, first: int) -> tuple[list[bytes], Rows]:
    """Slow, for lines with spaces inside a word (GloVe 840B has some), and to name the line that is wrong."""
    words, rows = [], []
    for number, line in enumerate(lines, first):
        if not line:
            continue
        word, *fields = line.rsplit(None, width)
        if len(fields) != width:
            raise BadData(
                f"found {len(fields)} numbers behind the word; the file's first line has {width}.", path, number
            )
        try:
            rows.append([float(field) for field in fields])
        except ValueError:
            wrong = next(field for field in fields if not _is_number(field))
            raise BadData(f"found {wrong[:40]!r} where a number should be.", path, number) from None
        words.append(word)
    return words, np.array(rows, np.float32).reshape(len(rows), width)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
