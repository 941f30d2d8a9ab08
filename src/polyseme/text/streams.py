"""The bytes of a file, plain or packed, in blocks of bounded size."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from polyseme.errors import BadData, MissingExtra

PACKED = (".gz", ".zst")

_BLOCK = 1 << 22
_PIECE = 1024  # packed bytes at a time; runs of one byte pack so well that even these can be megabytes
_AGAIN = "Copy or download it again."


def blocks(path: Path, on_read: Callable[[int], None] | None = None, size: int = _BLOCK) -> Iterator[bytes]:
    """The file's bytes, unpacked, at most `size` at a time; `on_read` hears how many bytes on disk are done.

    Whether it is packed is told by its first bytes; a name that says otherwise is a mistake.
    """
    with path.open("rb") as file:
        for block in _unpacked(file, path, size):
            if on_read is not None:
                on_read(file.tell())
            yield block
        if on_read is not None:
            on_read(file.tell())


def _unpacked(file: IO[bytes], path: Path, size: int) -> Iterator[bytes]:
    magic = file.read(4)
    file.seek(0)
    if magic[:2] == b"\x1f\x8b":
        return _from_gz(file, path, size)
    if magic == b"\x28\xb5\x2f\xfd" or magic[1:] == b"\x2a\x4d\x18":  # a frame of data, or one to be skipped
        return _from_zst(file, path, size)
    if path.suffix.lower() in PACKED:
        raise BadData(f"it is named {path.suffix} but is not packed so. Rename it, or fetch it again.", path)
    return _until_empty(file, size)


def _from_gz(file: IO[bytes], path: Path, size: int) -> Iterator[bytes]:
    try:
        yield from _until_empty(gzip.GzipFile(fileobj=file), size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadData(f"the packed data is damaged ({error}). {_AGAIN}", path) from None


def _from_zst(file: IO[bytes], path: Path, size: int) -> Iterator[bytes]:
    """Frame by frame: zstandard's own stream reader takes a file that is cut off for a whole one."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstandard", "data", f"Reading {path.name}") from None
    frame = None
    try:
        for piece in _until_empty(file, _PIECE):
            while piece:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                found = frame.decompress(piece)
                yield from (found[start : start + size] for start in range(0, len(found), size))
                piece, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    except zstandard.ZstdError as error:
        raise BadData(f"the packed data is damaged ({error}). {_AGAIN}", path) from None
    if frame is not None:
        raise BadData(f"the packed data ends too early. {_AGAIN}", path)


def _until_empty(file: IO[bytes] | gzip.GzipFile, size: int) -> Iterator[bytes]:
    while block := file.read(size):
        yield block
