"""fastText's .bin files, with the n-gram rows that give unseen words a vector."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from polyseme.encoders import Pretrained
from polyseme.errors import BadFile
from polyseme.formats.vectors import Rows, check_words, decoded, opened, static_parts, to_pretrained
from polyseme.text.bags import Subwords

NAME = "fasttext"

_MAGIC, _VERSION = 793712314, 12
_ARGUMENTS = struct.Struct("<12id")  # width window epochs min_count negatives word_n-grams loss model buckets min max …
_SIZES = struct.Struct("<3i2q")  # entries words labels tokens pruned
_WORD, _LABEL = 0, 1
_LONGEST_WORD = 4096


@dataclass(frozen=True)
class Head:
    """What stands before the matrices."""

    width: int
    words: list[str]
    subwords: Subwords | None


def sniff(path: Path) -> bool:
    if not path.is_file():
        return False
    with opened(path) as file:
        return file.read(4) == struct.pack("<i", _MAGIC)


def read(path: Path) -> Pretrained:
    with opened(path) as file:
        head = _head(path, file)
        rows = _matrix(path, file, head)
    return to_pretrained(head.words, rows, path, NAME, head.subwords)


def write(pretrained: Pretrained, path: Path) -> None:
    """All vectors; the output matrix, which only further training needs, is not known here and is written as empty."""
    tokenizer, encoder = static_parts(pretrained)
    rows, sub = encoder.table.weight.detach().numpy(), tokenizer.subwords
    check_words(tokenizer.words, "\0 \n", path)
    longest, shortest, buckets = (sub.longest, sub.shortest, sub.n_buckets) if sub else (0, 0, 0)
    with path.open("wb") as file:
        file.write(struct.pack("<2i", _MAGIC, _VERSION))
        file.write(_ARGUMENTS.pack(rows.shape[1], 5, 5, 1, 5, 1, 2, 2, buckets, shortest, longest, 100, 1e-4))
        file.write(_SIZES.pack(len(tokenizer.words), len(tokenizer.words), 0, 0, -1))
        for word in tokenizer.words:
            file.write(word.encode(errors="surrogatepass") + b"\0" + struct.pack("<qb", 1, _WORD))
        file.write(struct.pack("<?2q", False, *rows.shape) + rows.astype("<f4").tobytes())
        file.write(struct.pack("<?2q", False, 0, rows.shape[1]))


def _head(path: Path, file: BinaryIO) -> Head:
    magic, version = struct.unpack("<2i", _exactly(path, file, 8))
    if magic != _MAGIC or version not in (11, _VERSION):
        raise BadFile(f"{path} is no fastText .bin of version 11 or 12 (found magic {magic}, version {version}).")
    arguments = _ARGUMENTS.unpack(_exactly(path, file, _ARGUMENTS.size))
    width, model, buckets, shortest, longest = arguments[0], arguments[7], *arguments[8:11]
    n_entries, n_words, n_labels, _, n_pruned = _SIZES.unpack(_exactly(path, file, _SIZES.size))
    if not (0 < width < 1_000_000 and 0 <= n_words <= n_entries == n_words + n_labels and buckets >= 0):
        raise BadFile(
            f"{path}: its sizes make no sense (width {width}, words {n_words} of {n_entries}, buckets {buckets})."
        )
    if version == 11 and model == 3:
        longest = 0  # version 11 wrote n-gram sizes for classifiers that have none
    words = _words(path, file, n_entries)
    if n_pruned > n_entries + buckets:
        raise BadFile(f"{path}: its sizes make no sense ({n_pruned} pruned rows of {n_entries + buckets}).")
    if n_pruned > 0:
        _exactly(path, file, 8 * n_pruned)
    return Head(width, words, Subwords(shortest, longest, buckets) if longest > 0 and buckets > 0 else None)


def _words(path: Path, file: BinaryIO, n_entries: int) -> list[str]:
    words, waiting, place = [], b"", 0
    for entry in range(n_entries):
        while (end := waiting.find(b"\0", place)) < 0 or end + 10 > len(waiting):
            block = file.read(1 << 16)
            if not block or len(waiting) - place > _LONGEST_WORD + 16:
                raise BadFile(f"{path}: its dictionary breaks off at entry {entry} of {n_entries}. Copy it again.")
            waiting, place = waiting[place:] + block, 0
        if waiting[end + 9] == _WORD:  # behind the word an int64 count, then its kind
            words.append(decoded(waiting[place:end]))
        place = end + 10
    file.seek(place - len(waiting), 1)
    return words


def _matrix(path: Path, file: BinaryIO, head: Head) -> Rows:
    quantised, n_rows, width = struct.unpack("<?2q", _exactly(path, file, 17))
    if quantised:
        raise BadFile(f"{path} is quantised (.ftz), which is not read here. Use the .bin it was made from.")
    wanted = len(head.words) + (head.subwords.n_buckets if head.subwords else 0)
    if width != head.width or n_rows < wanted:
        raise BadFile(f"{path}: its matrix is {n_rows} x {width}; its dictionary wants {wanted} x {head.width}.")
    if path.suffix != ".gz" and path.stat().st_size - file.tell() < n_rows * width * 4:
        raise BadFile(f"{path} was cut short inside its matrix of {n_rows} x {width}. Copy it again.")
    rows = np.frombuffer(_in_blocks(path, file, n_rows * width * 4), "<f4").reshape(n_rows, width)
    return rows[:wanted]


def _in_blocks(path: Path, file: BinaryIO, size: int) -> bytearray:
    """So many bytes, taken as they come: a packed file's own size does not tell whether they are there."""
    found = bytearray()
    while len(found) < size:
        found += _exactly(path, file, min(size - len(found), 1 << 24))
    return found


def _exactly(path: Path, file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise BadFile(f"{path} ends where {size:,} more bytes should be. It was cut short: copy it again.")
    return found
