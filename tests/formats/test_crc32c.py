import numpy as np
import pytest

from polyseme.formats import crc32c as module
from polyseme.formats.crc32c import crc32c, masked

POLYNOMIAL = 0x11EDC6F41
CHUNK = 1 << 20


def bit_by_bit(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def power(exponent: int) -> int:
    """x to a power, modulo the polynomial."""
    value = 1
    for _ in range(exponent):
        value <<= 1
        value ^= POLYNOMIAL if value >> 32 else 0
    return value


@pytest.mark.parametrize(
    "data, expected",
    [
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(reversed(range(32))), 0x113FDB5C),
        (b"", 0),
    ],
)
def test_the_examples_of_rfc_3720_come_out(data, expected):
    assert crc32c(data) == expected


@pytest.mark.parametrize("size", [*range(1, 20), 5684, 5685, 5686, 8 * 5685 - 1, 8 * 5685, 8 * 5685 + 1])
def test_every_length_gives_what_bit_by_bit_division_gives(size):
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8).tobytes()
    assert crc32c(data) == bit_by_bit(data)


@pytest.mark.parametrize("size", [CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 9, 2 * CHUNK + 5, 3 * CHUNK + 8])
def test_chunks_do_not_change_the_checksum(size, monkeypatch):
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    in_chunks = crc32c(data)
    monkeypatch.setattr(module, "_CHUNK", 1 << 30)
    assert crc32c(data) == in_chunks


def test_the_taps_are_a_multiple_of_the_polynomial():
    farthest = module._TAPS[-1]
    assert power(farthest) == power(farthest - module._TAPS[0]) ^ power(farthest - module._TAPS[1]) ^ 1


def test_one_changed_bit_anywhere_in_a_long_message_is_noticed():
    data = np.zeros(200_000, np.uint8)
    whole = crc32c(data)
    for place in (0, 3, 4, 99_999, 199_999):
        data[place] ^= 16
        assert crc32c(data) != whole
        data[place] ^= 16


def test_what_it_is_given_stays_as_it_is():
    data = np.arange(256, dtype=np.uint8).repeat(1000)
    data.flags.writeable = False
    crc32c(data)
    assert (data == np.arange(256, dtype=np.uint8).repeat(1000)).all()


def test_a_masked_checksum_is_turned_by_15_bits_and_moved():
    assert masked(0) == 0xA282EAD8
    assert masked(1 << 15) == 0xA282EAD8 + 1
    assert masked(0xFFFFFFFF) == (0xFFFFFFFF + 0xA282EAD8) & 0xFFFFFFFF
