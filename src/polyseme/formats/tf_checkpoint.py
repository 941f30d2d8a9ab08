"""TensorFlow's checkpoints (tensor bundles, format V2), read without TensorFlow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import BadFile, Mistake, did_you_mean, listed
from polyseme.formats.crc32c import crc32c, masked
from polyseme.formats.sstable import MAGIC, pairs
from polyseme.formats.tf_index import NOT_NUMBERS, Entry, Part, Unsupported, entries

_LARGEST_INDEX = 1 << 26  # bytes; BERT-large with its Adam moments needs a thousandth of it
_AGAIN = "Copy or download the checkpoint again."


def find(path: Path) -> Path:
    """The prefix that a checkpoint's files share, from a folder, the prefix itself or one of its files."""
    found = candidates(path)
    if len(found) == 1:
        return found[0]
    if found:
        names = listed(prefix.name for prefix in found)
        raise BadFile(f"{path} has {len(found)} checkpoints: {names}. Name one, for example {found[0]}.")
    for file in first_version(path):
        raise BadFile(
            f"{file} is a TensorFlow checkpoint of the old format V1, all in one file, which is not supported; format "
            f"V2 has {file.name}.index and {file.name}.data-00000-of-00001. Restore it with TensorFlow 1 and save it "
            "again with tf.train.Saver()."
        )
    folder = path if path.is_dir() else path.parent
    there = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    near = did_you_mean(path.name, [prefix.name for prefix in candidates(folder)])
    raise BadFile(
        f"No TensorFlow checkpoint at {path}. Wanted: a file that ends in .index, and its .data-00000-of-00001 beside "
        f"it. Found in {folder}: {listed(there)}.{near}"
    )


def candidates(path: Path) -> list[Path]:
    """The prefixes that a path can mean: none, one, or those of all checkpoints in a folder."""
    if path.is_dir():
        return [path / Path(name).stem for name in _files(path) if name.endswith(".index")]
    is_file = path.suffix in (".index", ".meta") or path.suffix.startswith(".data-")
    prefix = path.with_suffix("") if is_file else path
    return [prefix] if _beside(prefix, "index").is_file() else []


def first_version(path: Path) -> list[Path]:
    """The checkpoints of the old format V1 that a path can mean: each is one file, a table with the numbers in it."""
    files = [path / name for name in _files(path)] if path.is_dir() else [path]
    return [file for file in files if file.suffix != ".index" and file.is_file() and _end(file) == MAGIC]


def names(prefix: Path) -> dict[str, Entry]:
    """Every tensor of a checkpoint, by its name."""
    path = _beside(prefix, "index")
    with _reading(path):
        size = path.stat().st_size
        if size > _LARGEST_INDEX:
            raise ValueError(f"{size} bytes, more than the {_LARGEST_INDEX} an index may have")
        return entries(dict(pairs(path.read_bytes())))


def read_tensor(prefix: Path, entry: Entry) -> NDArray[Any]:
    """A tensor: a read-only view of the file where it lies in one part. bfloat16, unknown to numpy, becomes float32.

    Its checksum is always verified: that is one pass over memory, and less work than to read the file from a disk.
    """
    if entry.dtype in NOT_NUMBERS:
        raise BadFile(f"{entry.name} in {prefix} is of type {entry.dtype}; numbers are wanted. Leave it out.")
    if len(entry.parts) == 1:
        return _as_numbers(_bytes(prefix, entry, entry.parts[0]), entry.dtype, entry.shape)
    return _join(prefix, entry)


def _join(prefix: Path, entry: Entry) -> NDArray[Any]:
    """A partitioned tensor, put together."""
    slices = [_as_numbers(_bytes(prefix, entry, part), entry.dtype, part.shape) for part in entry.parts]
    whole = np.zeros(entry.shape, slices[0].dtype)
    covered = np.zeros(entry.shape, bool)
    for part, numbers in zip(entry.parts, slices, strict=True):
        place = tuple(slice(start, start + length) for start, length in zip(part.start, part.shape, strict=True))
        whole[place], covered[place] = numbers, True
    if not covered.all():
        raise BadFile(f"{entry.name} in {prefix}: its {len(slices)} slices leave a part of it out. {_AGAIN}")
    return whole


def _bytes(prefix: Path, entry: Entry, part: Part) -> NDArray[np.uint8]:
    """The bytes of a part, in the file and not yet in memory."""
    path = _beside(prefix, part.file)
    end = part.offset + part.size
    if not path.is_file():
        raise BadFile(f"No {path.name} in {path.parent}, where {entry.name} lies. Copy it beside the .index file.")
    with _reading(path):
        if path.stat().st_size < end:
            raise ValueError(f"{path.stat().st_size} bytes, and {entry.name} lies at bytes {part.offset} to {end}")
        if part.size == 0:  # what is empty cannot be mapped
            return np.empty(0, np.uint8)
        data = np.asarray(np.memmap(path, np.uint8, "r", part.offset, (part.size,)))
        if masked(crc32c(data)) != part.crc:
            raise ValueError(f"a wrong checksum of {entry.name}, bytes {part.offset} to {end}")
    return data


def _as_numbers(data: NDArray[np.uint8], dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if dtype == "bfloat16":  # the upper half of a float32
        return (data.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return data.view(np.dtype(dtype).newbyteorder("<")).reshape(shape)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what is wrong with bytes into what is wrong with this file."""
    try:
        yield
    except Mistake:
        raise
    except Unsupported as problem:
        raise BadFile(
            f"{path} is of a kind that is not supported. Found: {problem}. Restore it with TensorFlow and save it "
            "again with tf.train.Saver(), on a little-endian machine."
        ) from None
    except ValueError as problem:
        raise BadFile(f"{path} is no whole file of a TensorFlow checkpoint. Found: {problem}. {_AGAIN}") from None
    except OSError as problem:
        raise BadFile(f"{path} cannot be read: {problem.strerror}. Check that it is there and that you may.") from None


def _beside(prefix: Path, ending: str) -> Path:
    return prefix.parent / f"{prefix.name}.{ending}"


def _files(folder: Path) -> list[str]:
    """The names of a folder's files, but for hidden ones."""
    return sorted(file.name for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))


def _end(file: Path) -> bytes:
    with _reading(file), file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - len(MAGIC)))
        return opened.read()
