"""word2vec's text and binary files (fastText's .vec is the text one): a header `words width`, then the vectors."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from polyseme.encoders import Pretrained
from polyseme.errors import BadFile
from polyseme.formats.lines import read_lines, write_lines
from polyseme.formats.vectors import Rows, check_words, decoded, opened, table, to_pretrained

NAME = "word2vec"

_HEADER = re.compile(rb"\s*(\d{1,12})[ \t]+(\d{1,6})\s*$")
_LONGEST_WORD = 4096  # bytes; a longer "word" means that this is another kind of file
_BLOCK = 1 << 22


def sniff(path: Path) -> bool:
    if not path.is_file():
        return False
    with opened(path) as file:
        return _HEADER.match(file.readline(64)) is not None


def read(path: Path) -> Pretrained:
    with opened(path) as file:
        n_words, width = _header(path, file.readline(64))
        if _is_text(file.read(1 << 16), width):
            words, rows = read_lines(path, width, skip=1)
            if len(words) != n_words:
                raise BadFile(f"{path}: its header promises {n_words} words; it has {len(words)}. Copy it again.")
        else:
            words, rows = _read_binary(path, n_words, width)
    return to_pretrained(words, rows, path, NAME)


def write(pretrained: Pretrained, path: Path) -> None:
    """Text; binary where the name ends in .bin."""
    words, rows = table(pretrained)
    header = f"{len(words)} {rows.shape[1]}\n".encode()
    if path.suffix != ".bin":
        write_lines(path, words, rows, header)
        return
    check_words(words, " \n", path)
    with path.open("wb") as file:
        file.write(header)
        for word, row in zip(words, rows, strict=True):
            file.write(word.encode(errors="surrogatepass") + b" " + row.astype("<f4").tobytes() + b"\n")


def _header(path: Path, line: bytes) -> tuple[int, int]:
    match = _HEADER.match(line)
    if not match:
        raise BadFile(
            f"{path} begins with {line[:40]!r}; a word2vec file begins with its two sizes, such as b'3000 300'."
        )
    n_words, width = int(match[1]), int(match[2])
    if n_words == 0 or width == 0:
        raise BadFile(f"{path} promises {n_words} words of width {width}: there is nothing to read.")
    smallest = n_words * (width * 2 + 2)  # a digit and a space a number, in text; binary takes more
    if path.suffix != ".gz" and path.stat().st_size < smallest:
        raise BadFile(
            f"{path} promises {n_words} x {width} numbers, which take {smallest:,} bytes or more; it has "
            f"{path.stat().st_size:,}. It was cut short: copy it again."
        )
    return n_words, width


def _is_text(sample: bytes, width: int) -> bool:
    """Whether what follows the header are numbers one can read."""
    fields = sample.split(b"\n")[0].split()[-width:]
    try:
        return len(fields) == width and all(np.isfinite(float(field)) for field in fields)
    except ValueError:
        return False


def _read_binary(path: Path, n_words: int, width: int) -> tuple[list[str], Rows]:
    with opened(path) as file:
        file.readline(64)
        words, blocks = [], []
        for block in _records(path, file, n_words, width):
            words += [decoded(word) for word, _ in block]
            blocks.append(np.frombuffer(b"".join(vector for _, vector in block), "<f4").reshape(-1, width))
    return words, np.concatenate(blocks) if blocks else np.zeros((0, width), np.float32)


def _records(path: Path, file: BinaryIO, n_words: int, width: int) -> Iterator[list[tuple[bytes, bytes]]]:
    """(word, vector) pairs, a block of the file at a time."""
    size, left, waiting = width * 4, n_words, b""
    while left:
        block = file.read(_BLOCK)
        waiting += block
        found, place = [], 0
        while left:
            space = waiting.find(b" ", place, place + _LONGEST_WORD)
            if space < 0 and len(waiting) - place >= _LONGEST_WORD:
                raise BadFile(
                    f"{path}: no word ends within {_LONGEST_WORD} bytes behind word {n_words - left}. Is it word2vec?"
                )
            if space < 0 or space + 1 + size > len(waiting):
                break
            found.append((waiting[place:space].lstrip(b"\n"), waiting[space + 1 : space + 1 + size]))
            place, left = space + 1 + size, left - 1
        waiting = waiting[place:]
        if left and not block:
            raise BadFile(f"{path} ends behind word {n_words - left} of {n_words}. It was cut short: copy it again.")
        yield found
