"""LevelDB's sorted table, in which TensorFlow keeps the index of a checkpoint: bytes to keys and values."""

import struct
from collections.abc import Iterator

from polyseme.formats.crc32c import crc32c, masked
from polyseme.formats.protobuf import varint
from polyseme.formats.snappy import unpack

MAGIC = 0xDB4775248B80FB57.to_bytes(8, "little")
_FOOTER = 48  # two block handles, padded to 40 bytes, and the magic number
_TRAILER = 5  # after each block: how it is packed, and a checksum of both
_LARGEST = 1 << 28  # bytes of all keys and values; shared beginnings let a small file ask for any amount


def pairs(table: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Each key with its value, in order. A table that is not whole is a ValueError that says what was found."""
    last, total = None, 0
    for handle in _handles(table):
        for key, value in _entries(_block(table, handle)):
            if last is not None and key <= last:
                raise ValueError(f"keys that do not rise: {last!r}, then {key!r}")
            total += len(key) + len(value)
            if total > _LARGEST:
                raise ValueError(f"more than {_LARGEST} bytes of keys and values")
            last = key
            yield key, value


def _handles(table: bytes) -> Iterator[bytes]:
    """Where each block of data lies, as the index block says."""
    if len(table) < _FOOTER:
        raise ValueError(f"{len(table)} bytes, fewer than the {_FOOTER} of a table's end")
    if table[-8:] != MAGIC:
        raise ValueError(f"the last 8 bytes {table[-8:].hex()} instead of a table's {MAGIC.hex()}")
    footer = table[-_FOOTER:]
    _, at = varint(footer, 0)  # the first handle leads to filters, which TensorFlow does not write
    _, at = varint(footer, at)
    for _, handle in _entries(_block(table, footer[at:])):
        yield handle


def _block(table: bytes, handle: bytes) -> bytes:
    """One block, checked and unpacked."""
    start, at = varint(handle, 0)
    size, _ = varint(handle, at)
    end = start + size
    if end + _TRAILER > len(table) - _FOOTER:
        raise ValueError(f"a block at bytes {start} to {end} of {len(table)}")
    packing, crc = struct.unpack("<BI", table[end : end + _TRAILER])
    if masked(crc32c(table[start : end + 1])) != crc:
        raise ValueError(f"a wrong checksum of the block at bytes {start} to {end}")
    if packing > 1:
        raise ValueError(f"a block that is packed in way {packing}; 0 (not at all) and 1 (Snappy) are known")
    return unpack(table[start:end]) if packing else table[start:end]


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Each key with its value; a key says only how it differs from the one before it."""
    n_restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (n_restarts + 1)  # the places where keys are written in full follow, to search from
    if end < 0:
        raise ValueError(f"{n_restarts} restarts in a block of {len(block)} bytes")
    at, key = 0, b""
    while at < end:
        shared, at = varint(block, at)
        own, at = varint(block, at)
        size, at = varint(block, at)
        if shared > len(key) or at + own + size > end:
            raise ValueError(f"a key of {shared} + {own} bytes and a value of {size} in a block of {len(block)}")
        key = key[:shared] + block[at : at + own]
        yield key, block[at + own : at + own + size]
        at += own + size
