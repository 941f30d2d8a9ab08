"""The bytes of a file, plain or packed, in blocks of bounded size."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from polyseme.errors import BadData, MissingExtra

PACKED = (".gz", ".zst")

_BLOCK = 1 << 22
_ZST_FRAME = bytes.fromhex("28b52ffd")
_ZST_SKIPPED = bytes.fromhex("2a4d18")


def blocks(path: Path, on_read: Callable[[int], None] | None = None, size: int = _BLOCK) -> Iterator[bytes]:
    """The file's bytes, unpacked, at most `size` at a time; `on_read` hears how many bytes on disk are done."""
    with path.open("rb") as file:
        unpacked, damaged = _unpacked(file, path)
        while True:
            try:
                block = unpacked.read(size)
            except damaged as error:
                raise BadData(f"the packed data is damaged ({error}). Copy or download it again.", path) from error
            if on_read is not None:
                on_read(file.tell())
            if not block:
                return
            yield block


def _unpacked(file: IO[bytes], path: Path) -> tuple[IO[bytes], tuple[type[Exception], ...]]:
    """A file that gives unpacked bytes, and what it raises where they are damaged."""
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file)), (EOFError, gzip.BadGzipFile, zlib.error)
    if path.suffix.lower() == ".zst":
        zstandard = _zstandard(path)
        if _is_cut_off(file, zstandard):
            raise BadData("the packed data ends too early. Copy or download it again.", path)
        file.seek(0)
        # without read_across_frames, what a parallel packer wrote ends after its first frame
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True), (zstandard.ZstdError,)
    return file, ()


def _zstandard(path: Path) -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstandard", "data", f"Reading {path.name}") from None
    return zstandard


def _is_cut_off(file: IO[bytes], zstandard: Any) -> bool:
    """Whether the last frame has no end; the zstd reader would take that for the end of the text."""
    size, position = file.seek(0, 2), 0
    while position < size:
        end = _frame_end(file, position, zstandard)
        if end is None:
            return False  # no frame of zstd: the reader says so
        position = end
    return position > size


def _frame_end(file: IO[bytes], start: int, zstandard: Any) -> int | None:
    """Where the frame that begins here ends, by the sizes in its headers (RFC 8878, section 3.1)."""
    file.seek(start)
    header = file.read(18)  # the longest one
    if header[1:4] == _ZST_SKIPPED:
        return start + 8 + int.from_bytes(header[4:8], "little")
    try:
        position = start + zstandard.frame_header_size(header)
        checksum = 4 if zstandard.get_frame_parameters(header).has_checksum else 0
    except zstandard.ZstdError:
        return start + 18 if header.startswith(_ZST_FRAME) and len(header) < 18 else None
    last = False
    while not last:
        file.seek(position)
        block = file.read(3)
        bits = int.from_bytes(block, "little")
        last, is_repeated, length = bool(bits & 1) or len(block) < 3, bits >> 1 & 3 == 1, bits >> 3
        position += 3 + (1 if is_repeated else length)
    return int(position + checksum)
