"""The CRC-32C checksum, in numpy and at the speed of memory."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

# x^5685 + x^1362 + x^426 + 1 is a multiple of the Castagnoli polynomial. So a bit of the message may be taken out
# where it stands and put back, by exclusive or, at these three distances after it, without changing the checksum; and
# since squaring a multiple doubles all its exponents, so may a byte or a 64-bit word, at as many bytes or words. Of all
# multiples with four terms below degree 6500 this one has the farthest nearest tap: that many units move in one step.
_TAPS = (5685 - 1362, 5685 - 426, 5685)
_CHUNK = 1 << 20  # bytes worked on at once: they stay in the cache


def crc32c(data: bytes | NDArray[np.uint8]) -> int:
    """The checksum of these bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    message = np.frombuffer(data, np.uint8)
    if message.size < 4:
        return _divide(message, 0xFFFFFFFF) ^ 0xFFFFFFFF
    return _divide(_fold(_fold_words(message)), 0) ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """A checksum as LevelDB and TensorFlow store it, so that a checksum over checksums is still of use."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _fold_words(message: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A short message with the same remainder."""
    pad, first = -message.size % 8, message.size % 8 + _CHUNK
    work = np.concatenate([np.zeros(pad, np.uint8), message[:first]])  # zeros in front change nothing
    work[pad : pad + 4] ^= 0xFF  # the same as to start dividing with a register of ones
    work = _fold(work.view(np.uint64)).view(np.uint8)
    for begin in range(first, message.size, _CHUNK):
        work = np.concatenate([work, message[begin : begin + _CHUNK]])
        work = _fold(work.view(np.uint64)).view(np.uint8)
    return work


def _fold(units: NDArray[Any]) -> NDArray[Any]:
    """The last units of a message, with the remainder of all; what it is given is overwritten."""
    nearest, _, farthest = _TAPS
    end = max(0, units.size - farthest)
    for start in range(0, end, nearest):
        stop = min(start + nearest, end)
        for tap in _TAPS:
            units[start + tap : stop + tap] ^= units[start:stop]
    return units[end:]


def _divide(message: NDArray[np.uint8], register: int) -> int:
    """The remainder, byte by byte."""
    table = _table()
    for byte in message.tolist():
        register = table[(register ^ byte) & 0xFF] ^ register >> 8
    return register


@cache
def _table() -> list[int]:
    """The remainder of each byte."""
    table = list(range(256))
    for _ in range(8):
        table = [value >> 1 ^ (0x82F63B78 if value & 1 else 0) for value in table]  # the polynomial, bits reversed
    return table
