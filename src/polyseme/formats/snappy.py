"""Unpack Snappy's raw format: a length, then literals and copies of what came before."""

from polyseme.formats.protobuf import varint


def unpack(data: bytes) -> bytes:
    """The bytes that were packed.

    >>> unpack(bytes([6, 0b0000_0100]) + b"ab" + bytes([0b0000_0001, 2]))
    b'ababab'
    """
    size, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        at = _literal(data, at, out) if data[at] & 3 == 0 else _copy(data, at, out)
        if len(out) > size:
            break
    if len(out) != size:
        raise ValueError(f"Snappy data of {len(out)} bytes that promises {size}")
    return bytes(out)


def _literal(data: bytes, at: int, out: bytearray) -> int:
    """Bytes as they are; from 61 on, their number less one stands in one to four bytes of its own."""
    length = (data[at] >> 2) + 1
    at += 1
    if length > 60:
        wide = length - 60
        length = int.from_bytes(data[at : at + wide], "little") + 1
        at += wide
    if at + length > len(data):
        raise ValueError("Snappy data that is cut off")
    out += data[at : at + length]
    return at + length


def _copy(data: bytes, at: int, out: bytearray) -> int:
    """Bytes from before; a copy longer than its distance repeats what it has just written."""
    tag = data[at]
    wide = (0, 1, 2, 4)[tag & 3]
    if at + 1 + wide > len(data):
        raise ValueError("Snappy data that is cut off")
    distance = int.from_bytes(data[at + 1 : at + 1 + wide], "little")
    length = (tag >> 2) + 1
    if wide == 1:
        distance, length = distance | tag >> 5 << 8, (tag >> 2 & 7) + 4
    if not 0 < distance <= len(out):
        raise ValueError(f"Snappy data that goes back {distance} bytes of {len(out)}")
    source = out[-distance:][:length]
    out += (source * (length // len(source) + 1))[:length]
    return at + 1 + wide
