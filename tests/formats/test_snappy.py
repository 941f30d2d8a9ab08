import contextlib
import random

import pytest

from polyseme.formats.snappy import unpack

TEXTS = [
    b"",
    b"a",
    b"ab" * 1000,
    bytes(range(256)) * 3,
    b"bert/encoder/layer_0/attention/self/query/kernel bert/encoder/layer_0/attention/self/query/bias",
    random.Random(0).randbytes(70_000),
    random.Random(1).randbytes(300) * 400,
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_what_snappy_packs_is_unpacked(text):
    pyarrow = pytest.importorskip("pyarrow")
    assert unpack(pyarrow.compress(text, "snappy", asbytes=True)) == text


def test_a_copy_may_have_a_distance_of_two_or_four_bytes():
    start = bytes([8, 3 << 2]) + b"abcd"
    assert unpack(start + bytes([3 << 2 | 2, 4, 0])) == b"abcdabcd"
    assert unpack(start + bytes([3 << 2 | 3, 3, 0, 0, 0])) == b"abcdbcdb"


@pytest.mark.parametrize(
    "data, found",
    [
        (b"", "cut off"),
        (bytes([4, 3 << 2]) + b"ab", "cut off"),
        (bytes([4, 60 << 2]), "cut off"),
        (bytes([9, 3 << 2]) + b"abcd" + bytes([1 << 2 | 2, 4]), "cut off"),
        (bytes([9, 3 << 2]) + b"abcd" + bytes([1, 5]), "goes back 5 bytes of 4"),
        (bytes([9, 3 << 2]) + b"abcd" + bytes([1, 0]), "goes back 0 bytes of 4"),
        (bytes([5, 3 << 2]) + b"abcd", "4 bytes that promises 5"),
        (bytes([3, 3 << 2]) + b"abcd", "4 bytes that promises 3"),
    ],
)
def test_what_is_not_whole_is_said(data, found):
    with pytest.raises(ValueError, match=found):
        unpack(data)


def test_a_small_file_that_unpacks_to_much_more_than_it_promises_is_left_early():
    bomb = bytes([10, 0]) + b"a" + bytes([63 << 2 | 2, 1, 0]) * 1_000_000
    with pytest.raises(ValueError, match="65 bytes that promises 10"):
        unpack(bomb)


def test_damage_is_a_value_error_and_nothing_else():
    pyarrow = pytest.importorskip("pyarrow")
    packed = pyarrow.compress(TEXTS[4] * 3, "snappy", asbytes=True)
    chance = random.Random(2)
    for _ in range(500):
        damaged = bytearray(packed)
        damaged[chance.randrange(len(packed))] = chance.randrange(256)
        with contextlib.suppress(ValueError):
            unpack(bytes(damaged[: chance.randint(0, len(packed))]))
