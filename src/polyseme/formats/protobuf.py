"""The wire format of Protocol Buffers: a message to its numbered fields."""

from collections import defaultdict

Message = dict[int, list[int | bytes]]  # the values of each field, in order; an inner message is still bytes

_FIXED = {1: 8, 5: 4}  # bytes of the wire types that have a fixed size


def parse(data: bytes) -> Message:
    """The fields of a message. Bytes that are none are a ValueError that says what was found.

    >>> parse(bytes([0x08, 0x96, 0x01, 0x12, 0x02]) + b"hi")
    {1: [150], 2: [b'hi']}
    """
    fields: Message = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = _value(data, at, key & 7)
        fields[key >> 3].append(value)
    return dict(fields)


def integer(message: Message, field: int) -> int:
    """A field that is a signed integer; 0 where it is left out, as the format has it."""
    value = message.get(field, [0])[-1]
    if isinstance(value, bytes):
        raise ValueError(f"{len(value)} bytes instead of a number in field {field}")
    return value - (1 << 64) if value >> 63 else value


def inner(message: Message, field: int) -> list[Message]:
    """A field that is a message, or a list of them."""
    return [parse(value) if isinstance(value, bytes) else _no_message(field, value) for value in message.get(field, [])]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number of seven-bit groups that begins at a place, and the place after it."""
    value = 0
    for shift in range(0, 70, 7):  # ten bytes hold 64 bits
        if at >= len(data):
            raise ValueError("a number that is cut off")
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise ValueError("a number of more than 64 bits")


def _value(data: bytes, at: int, kind: int) -> tuple[int | bytes, int]:
    if kind == 0:
        return varint(data, at)
    if kind == 2:
        size, at = varint(data, at)
    elif kind in _FIXED:
        size = _FIXED[kind]
    else:
        raise ValueError(f"a field of wire type {kind}")
    if at + size > len(data):
        raise ValueError(f"a field of {size} bytes where {len(data) - at} are left")
    value = data[at : at + size]
    return value if kind == 2 else int.from_bytes(value, "little"), at + size


def _no_message(field: int, value: int) -> Message:
    raise ValueError(f"the number {value} instead of a message in field {field}")
