import contextlib
import random
from pathlib import Path

import pytest

from polyseme.formats.sstable import pairs
from polyseme.formats.tf_index import Entry, Part, Unsupported, entries

DATA = Path(__file__).parent / "data"
HEADER = b"\x08\x01\x1a\x02\x08\x01"  # one data file, little-endian, written by version 1


def varint(number: int) -> bytes:
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def message(**values: int | bytes | list[bytes]) -> bytes:
    """A protobuf message from fields named f1, f2 …"""
    out = b""
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            number = int(name[1:])
            if isinstance(one, bytes):
                out += varint(number << 3 | 2) + varint(len(one)) + one
            else:
                out += varint(number << 3) + varint(one)
    return out


def shape(*lengths: int) -> bytes:
    return message(f2=[message(f1=length) for length in lengths])


def tensor(dtype=1, lengths=(2, 3), shard=0, offset=8, size=24, **more) -> bytes:
    return message(f1=dtype, f2=shape(*lengths), f3=shard, f4=offset, f5=size, **more) + b"\x35\x07\x00\x00\x00"


def extent(*places: tuple[int, int] | None) -> bytes:
    """A slice; None is a whole axis."""
    return message(f1=[message(f1=place[0], f2=place[1]) if place else b"" for place in places])


def test_an_entry_is_read():
    part = Part((0, 0), (2, 3), "data-00000-of-00001", 8, 24, 7)
    assert entries({b"": HEADER, b"a/b": tensor()}) == {"a/b": Entry("a/b", "float32", (2, 3), (part,))}


def test_a_table_without_a_header_is_refused():
    with pytest.raises(ValueError, match="no header"):
        entries({b"a": tensor()})


@pytest.mark.parametrize(
    "header, found",
    [
        (message(f1=1, f2=1), "big-endian"),
        (message(f1=1, f3=message(f1=2, f2=2)), "format version 2, newer than the 1"),
        (message(f1=b"meta"), "V1"),
    ],
)
def test_a_header_of_another_kind_is_not_supported(header, found):
    with pytest.raises(Unsupported, match=found):
        entries({b"": header, b"a": tensor()})


@pytest.mark.parametrize(
    "value, found",
    [
        (tensor(dtype=77), "values of type 77"),
        (tensor(dtype=0), "values of type 0"),
        (tensor(size=20), "20 bytes; float32 of shape \\(2, 3\\) has 24"),
        (tensor(shard=1), "data file 1 of 1"),
        (tensor(shard=-1), "data file -1 of 1"),
        (tensor(offset=-8), "24 bytes at offset -8"),
        (tensor(lengths=(-2, -3)), "the shape \\(-2, -3\\)"),
        (tensor(lengths=(1 << 40, 1 << 40)), "which no tensor can have"),
        (tensor(lengths=(0, 1 << 60), size=0), "which no tensor can have"),
        (tensor(lengths=(1,) * 100, size=4), "which no tensor can have"),
        (b"\xff", "cut off"),
    ],
)
def test_an_entry_that_cannot_be_is_refused_by_name(value, found):
    with pytest.raises(ValueError, match=f"for the tensor bert/x: .*{found}"):
        entries({b"": HEADER, b"bert/x": value})


def test_strings_are_listed_without_a_size_to_check():
    found = entries({b"": HEADER, b"graph": tensor(dtype=7, lengths=(), size=999)})
    assert found["graph"].dtype == "string"


LOWER, UPPER = extent((0, 70), None), extent((70, 30), None)
LOWER_KEY, UPPER_KEY = b"\0x\0\1\1\2\x80\xc0\x46\x80\x7f", b"\0x\0\1\1\2\xc0\x46\x9e\x80\x7f"
HALVES = {LOWER_KEY: tensor(lengths=(70, 2), size=560, offset=0), UPPER_KEY: tensor(lengths=(30, 2), size=240)}


def test_slices_are_found_under_the_name_of_their_place():
    found = entries({b"": HEADER, b"x": message(f1=1, f2=shape(100, 2), f7=[LOWER, UPPER]), **HALVES})
    assert list(found) == ["x"]
    assert [(part.start, part.shape, part.offset) for part in found["x"].parts] == [
        ((0, 0), (70, 2), 0),
        ((70, 0), (30, 2), 8),
    ]


@pytest.mark.parametrize(
    "whole, more, found",
    [
        (message(f1=1, f2=shape(100, 2), f7=[LOWER]), {}, "do not add up"),
        (message(f1=1, f2=shape(100, 2), f7=[LOWER, extent((70, 29), None)]), {}, "nowhere"),
        (message(f1=1, f2=shape(100, 2), f7=[extent((0, 70))]), {}, "nowhere"),
        (message(f1=1, f2=shape(90, 2), f7=[LOWER, UPPER]), {}, "a slice at"),
        (message(f1=1, f2=shape(100, 3), f7=[LOWER, UPPER]), {}, "a slice at"),
        (message(f1=2, f2=shape(100, 2), f7=[LOWER, UPPER]), {}, "that is float32"),
        (message(f1=1, f2=shape(100, 2), f7=[LOWER, UPPER]), {UPPER_KEY: tensor()}, "of shape \\(2, 3\\)"),
        (message(f1=1, f2=shape(100, 2), f7=[LOWER, 5]), {}, "instead of a message"),
    ],
)
def test_slices_that_do_not_fit_are_refused(whole, more, found):
    with pytest.raises(ValueError, match=f"for the tensor x: .*{found}"):
        entries({b"": HEADER, b"x": whole, **HALVES, **more})


@pytest.mark.parametrize("name", ["tf_bert_tiny/bert_model.ckpt.index", "tf_odd/model.ckpt-7.index"])
def test_damage_that_no_checksum_shows_is_a_value_error_and_nothing_else(name):
    table = dict(pairs((DATA / name).read_bytes()))
    keys = sorted(table)[:40]
    chance = random.Random(0)
    for _ in range(400):
        key = chance.choice(keys)
        value = bytearray(table[key])
        value[chance.randrange(len(value))] = chance.randrange(256)
        with contextlib.suppress(ValueError):
            entries(table | {key: bytes(value[: chance.choice([len(value), chance.randint(0, len(value))])])})
