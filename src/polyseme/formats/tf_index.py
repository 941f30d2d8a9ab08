"""The index of a TensorFlow checkpoint: what each tensor is, and where its numbers lie."""

import math
from dataclasses import dataclass

import numpy as np

from polyseme.formats.protobuf import Message, inner, integer, parse

DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
}  # by their numbers in TensorFlow's types.proto
NOT_NUMBERS = ("string", "resource", "variant")
_VERSION = 1  # of the format; readers and writers have agreed on it since 2016


class Unsupported(ValueError):
    """What is whole, but not ours to read."""


@dataclass(frozen=True, slots=True)
class Part:
    """Where the numbers of a tensor lie, or of a slice of it."""

    start: tuple[int, ...]  # the place of its first number within the tensor
    shape: tuple[int, ...]
    file: str  # how the name of its data file goes on after the prefix
    offset: int  # in bytes
    size: int  # in bytes
    crc: int  # masked


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    parts: tuple[Part, ...]  # one, or the slices of a partitioned variable


def entries(table: dict[bytes, bytes]) -> dict[str, Entry]:
    """Every tensor by its name, from the table that the index file is. What is wrong in it is a ValueError."""
    if b"" not in table:
        raise ValueError("no header")
    n_shards = _n_shards(table[b""])
    found = [_entry(key, value, table, n_shards) for key, value in table.items() if key and not key.startswith(b"\0")]
    return {entry.name: entry for entry in found}


def itemsize(dtype: str) -> int:
    """Bytes of one number."""
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


def _n_shards(header: bytes) -> int:
    """How many data files there are; everything else in the header must be as we know it."""
    message = parse(header)
    if any(isinstance(value, bytes) for value in message.get(1, [])):
        raise Unsupported("the old format V1; V2 is wanted")
    if integer(message, 2) != 0:
        raise Unsupported("numbers of a big-endian machine; a little-endian one's are wanted")
    for version in inner(message, 3):
        if integer(version, 2) > _VERSION:
            raise Unsupported(f"format version {integer(version, 2)}, newer than the {_VERSION} that is known")
    return integer(message, 1)


def _entry(key: bytes, value: bytes, table: dict[bytes, bytes], n_shards: int) -> Entry:
    name = key.decode(errors="backslashreplace")
    try:
        message = parse(value)
        dtype, shape = _dtype(message), _shape(message)
        if 7 not in message:
            return Entry(name, dtype, shape, (_part(message, (0,) * len(shape), n_shards),))
        parts = tuple(_slice(key, extents, message, table, n_shards) for extents in inner(message, 7))
    except ValueError as problem:
        raise ValueError(f"for the tensor {name}: {problem}") from None
    if sum(math.prod(part.shape) for part in parts) != math.prod(shape):
        raise ValueError(f"for the tensor {name}: slices that do not add up to its shape {shape}")
    return Entry(name, dtype, shape, parts)


def _dtype(message: Message) -> str:
    number = integer(message, 1)
    if number not in DTYPES:
        raise ValueError(f"values of type {number}, which is not known")
    return DTYPES[number]


def _shape(message: Message) -> tuple[int, ...]:
    shape = tuple(integer(dim, 1) for dims in inner(message, 2) for dim in inner(dims, 2))
    if min(shape, default=0) < 0 or len(shape) > 32 or math.prod(max(1, length) for length in shape) >> 48:
        raise ValueError(f"the shape {shape}, which no tensor can have")
    return shape


def _part(message: Message, start: tuple[int, ...], n_shards: int) -> Part:
    dtype, shape = _dtype(message), _shape(message)
    shard, offset, size = integer(message, 3), integer(message, 4), integer(message, 5)
    if not 0 <= shard < n_shards:
        raise ValueError(f"data file {shard} of {n_shards}")
    if offset < 0 or size < 0:
        raise ValueError(f"{size} bytes at offset {offset}")
    if dtype not in NOT_NUMBERS and size != math.prod(shape) * itemsize(dtype):
        raise ValueError(f"{size} bytes; {dtype} of shape {shape} has {math.prod(shape) * itemsize(dtype)}")
    return Part(start, shape, f"data-{shard:05d}-of-{n_shards:05d}", offset, size, integer(message, 6))


def _slice(key: bytes, extents: Message, whole: Message, table: dict[bytes, bytes], n_shards: int) -> Part:
    """A slice of a partitioned tensor: it has an entry of its own, under a name made of its place."""
    place = [(integer(extent, 1), integer(extent, 2) if 2 in extent else -1) for extent in inner(extents, 1)]
    shape = _shape(whole)
    if len(place) != len(shape) or _slice_key(key, place) not in table:
        raise ValueError(f"a slice at {place} of {shape} that is nowhere")
    message = parse(table[_slice_key(key, place)])
    part = _part(message, tuple(start for start, _ in place), n_shards)
    lengths = tuple(full if length == -1 else length for (_, length), full in zip(place, shape, strict=True))
    inside = all(0 <= start <= full - length for start, length, full in zip(part.start, lengths, shape, strict=True))
    if part.shape != lengths or not inside or _dtype(message) != _dtype(whole):
        raise ValueError(f"a slice at {place} of {shape} that is {_dtype(message)} of shape {part.shape}")
    return part


def _slice_key(key: bytes, place: list[tuple[int, int]]) -> bytes:
    """TensorFlow's name of a slice, in a code that sorts as the numbers in it do."""
    escaped = key.replace(b"\xff", b"\xff\0")  # a name cannot hold a zero byte
    numbers = b"".join(_sortable(start) + _sortable(length) for start, length in place)
    return b"\0" + escaped + b"\0\1" + bytes([1, len(place)]) + numbers


def _sortable(number: int) -> bytes:
    """A number as bytes: as many leading ones as it has bytes, a zero, and its bits; -1 is how a whole axis is said."""
    if number < 0:
        return b"\x7f"
    n_bytes = number.bit_length() // 7 + 1
    leading = ((1 << n_bytes) - 1) << 7 * n_bytes
    return (leading | number).to_bytes(n_bytes, "big")
