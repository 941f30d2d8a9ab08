import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyseme.formats import sstable
from polyseme.formats.crc32c import crc32c, masked
from polyseme.formats.sstable import MAGIC, pairs


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def write_block(entries: list[tuple[bytes, bytes]], every: int) -> bytes:
    """A block that writes one key in so many in full."""
    out, restarts, last = b"", [], b""
    for number, (key, value) in enumerate(entries):
        shared = max(size for size in range(len(key) + 1) if last.startswith(key[:size])) if number % every else 0
        restarts += [] if number % every else [len(out)]
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    return out + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def write_table(entries: list[tuple[bytes, bytes]], per_block: int = 3, every: int = 2, pack=None) -> bytes:
    """A table as LevelDB's documentation describes it."""
    out, handles = b"", []

    def add(content: bytes) -> bytes:
        nonlocal out
        content, kind = (pack(content), b"\1") if pack else (content, b"\0")
        handle = varint(len(out)) + varint(len(content))
        out += content + kind + struct.pack("<I", masked(crc32c(content + kind)))
        return handle

    for start in range(0, len(entries), per_block):
        block = entries[start : start + per_block]
        handles.append((block[-1][0], add(write_block(block, every))))
    footer = add(write_block([], every)) + add(write_block(handles, 1))
    return out + footer.ljust(40, b"\0") + MAGIC


ENTRIES = [(f"bert/layer_{number:02d}/kernel".encode(), bytes([number]) * number) for number in range(20)]


@given(
    st.dictionaries(st.binary(max_size=12), st.binary(max_size=300), max_size=30), st.integers(1, 9), st.integers(1, 5)
)
def test_keys_and_values_are_read_back_however_they_are_put_into_blocks(values, per_block, every):
    entries = sorted(values.items())
    assert list(pairs(write_table(entries, per_block, every))) == entries


def test_blocks_packed_by_snappy_are_read():
    pyarrow = pytest.importorskip("pyarrow")
    table = write_table(ENTRIES, pack=lambda content: pyarrow.compress(content, "snappy", asbytes=True))
    assert list(pairs(table)) == ENTRIES


def test_a_table_that_is_cut_off_is_refused_wherever():
    table = write_table(ENTRIES)
    for size in range(len(table)):
        with pytest.raises(ValueError, match=r"last 8 bytes|fewer than"):
            list(pairs(table[:size]))


def test_a_changed_byte_is_noticed_or_harmless():
    table = write_table(ENTRIES)
    n_harmless = 0
    for place in range(len(table)):
        damaged = bytearray(table)
        damaged[place] ^= 1 << place % 8
        try:
            assert list(pairs(bytes(damaged))) == ENTRIES
        except ValueError:
            continue
        n_harmless += 1
    assert n_harmless < 60  # the block for filters, its handle, and the padding of the footer


def test_a_block_packed_in_an_unknown_way_is_named():
    content = write_block(ENTRIES[:1], 1)
    table = write_table(ENTRIES[:1])
    changed = content + b"\2" + struct.pack("<I", masked(crc32c(content + b"\2")))
    with pytest.raises(ValueError, match="packed in way 2"):
        list(pairs(changed + table[len(changed) :]))


def test_keys_that_do_not_rise_are_refused():
    with pytest.raises(ValueError, match="do not rise: b'b', then b'a'"):
        list(pairs(write_table([(b"b", b""), (b"a", b"")])))
    with pytest.raises(ValueError, match="do not rise"):
        list(pairs(write_table([(b"a", b"1"), (b"a", b"2")])))


def test_a_small_table_cannot_ask_for_much_memory(monkeypatch):
    monkeypatch.setattr(sstable, "_LARGEST", 100_000)
    entries = [(b"a" * 1000 + bytes([number // 256, number % 256]), b"") for number in range(300)]
    table = write_table(entries, per_block=300, every=300)
    assert len(table) < 10_000
    with pytest.raises(ValueError, match="more than 100000 bytes"):
        list(pairs(table))


@pytest.mark.parametrize(
    "block, found",
    [
        (b"", "0 restarts in a block of 0 bytes"),
        (struct.pack("<I", 7), "7 restarts in a block of 4 bytes"),
        (bytes([3, 1, 0]) + b"a" + struct.pack("<I", 0), "a key of 3 \\+ 1 bytes"),
        (bytes([0, 9, 0]) + b"a" + struct.pack("<I", 0), "a key of 0 \\+ 9 bytes"),
        (bytes([0, 1, 9]) + b"a" + struct.pack("<I", 0), "a value of 9"),
    ],
)
def test_a_block_that_contradicts_itself_is_refused(block, found):
    with pytest.raises(ValueError, match=found):
        list(sstable._entries(block))
