import gzip
import sys

import pytest
import zstandard

from polyseme.errors import BadData, MissingExtra
from polyseme.tasks import lines
from polyseme.tasks.lines import numbered_lines, whole_text

TEXT = "erste Zeile\nzwei — três\r\n\nohne Ende 🙂"
LINES = [(1, "erste Zeile\n"), (2, "zwei — três\r\n"), (3, "\n"), (4, "ohne Ende 🙂")]


@pytest.mark.parametrize(
    "name, pack",
    [
        ("a.txt", bytes),
        ("a.txt.gz", gzip.compress),
        ("a.txt.zst", zstandard.compress),
        ("named-wrongly.txt", gzip.compress),
        ("two-members.gz", lambda raw: gzip.compress(raw[:9]) + gzip.compress(raw[9:])),
        ("two-frames.zst", lambda raw: zstandard.compress(raw[:9]) + zstandard.compress(raw[9:])),
    ],
)
def test_a_file_reads_the_same_however_it_is_packed(tmp_path, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(TEXT.encode()))
    assert list(numbered_lines(path)) == LINES


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_where_chunks_end_does_not_matter(tmp_path, monkeypatch, size):
    monkeypatch.setattr(lines, "_CHUNK", size)
    path = tmp_path / "a.txt"
    path.write_text(TEXT, newline="")
    assert list(numbered_lines(path)) == LINES


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbftext\nmore\n")
    assert list(numbered_lines(path)) == [(1, "text\n"), (2, "more\n")]
    path.write_bytes(b"\xef\xbb\xbf")
    assert list(numbered_lines(path)) == []


def test_only_a_newline_ends_a_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\x0bb\x0cc\x1cd\x85e\u2028f\n", newline="")
    assert len(list(numbered_lines(path))) == 1


def test_bytes_that_are_not_utf8_are_named_by_line_and_byte(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\nfine\nun caf\xe9 noir\n")
    with pytest.raises(BadData, match=r"a.csv, line 3: byte 7 of the line \(0xE9\) is not UTF-8.*un café noir"):
        list(numbered_lines(path))


@pytest.mark.parametrize(
    "raw, problem",
    [
        (b"text\na\0b\n", "line 2: byte 2 of the line is NUL"),
        ("text".encode("utf-16"), "UTF-16 text. Save it as UTF-8"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"PAR1rest", "parquet"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, raw, problem):
    path = tmp_path / "a.csv"
    path.write_bytes(raw)
    with pytest.raises(BadData, match=problem):
        list(numbered_lines(path))


@pytest.mark.parametrize("name, pack", [("a.gz", gzip.compress), ("a.zst", zstandard.compress)])
def test_a_packed_file_that_is_cut_short_is_refused_at_every_length(tmp_path, name, pack):
    path = tmp_path / name
    packed = pack(TEXT.encode())
    for end in range(4, len(packed)):
        path.write_bytes(packed[:end])
        with pytest.raises(BadData, match=r"damaged|ends too early"):
            list(numbered_lines(path))


@pytest.mark.parametrize("name, pack", [("a.gz", gzip.compress), ("a.zst", zstandard.compress)])
def test_a_packed_file_with_other_bytes_in_it_is_refused(tmp_path, name, pack):
    path = tmp_path / name
    packed = bytearray(pack(TEXT.encode() * 20))
    packed[20:30] = b"\xff" * 10
    path.write_bytes(packed)
    with pytest.raises(BadData, match=r"damaged|ends too early|not UTF-8"):
        list(numbered_lines(path))


def test_a_plain_file_named_as_packed_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_text("text,label\n")
    with pytest.raises(BadData, match=r"named \.gz but is not packed so"):
        list(numbered_lines(path))


def test_without_zstandard_the_extra_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a.zst"
    path.write_bytes(zstandard.compress(b"text"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"needs zstandard.*polyseme\[data\]"):
        list(numbered_lines(path))


def test_a_file_that_is_not_there_names_its_neighbour(tmp_path):
    (tmp_path / "train.csv").write_text("text")
    with pytest.raises(BadData, match=r"no such file\. Did you mean 'train.csv'"):
        list(numbered_lines(tmp_path / "trian.csv"))
    with pytest.raises(BadData, match="it is a folder"):
        list(numbered_lines(tmp_path))
    with pytest.raises(BadData, match="no such file"):
        list(numbered_lines(tmp_path / "nowhere" / "train.csv"))
    with pytest.raises(BadData, match="no regular file"):
        list(numbered_lines(tmp_path.__class__("/dev/null")))


def test_the_first_lines_come_before_the_rest_is_read(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b"".join(b"line %d %d\n" % (i, i * 7919) for i in range(60_000)))
    path.write_bytes(whole[: len(whole) // 2])  # whoever reads it all meets the missing half
    assert next(numbered_lines(path)) == (1, "line 0 0\n")


def test_a_line_without_end_is_not_taken_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_LONGEST", 1000)
    monkeypatch.setattr(lines, "_CHUNK", 100)
    path = tmp_path / "a.txt"
    path.write_bytes(b"short\n" + b"x" * 2000)
    with pytest.raises(BadData, match=r"line 2: the line is longer"):
        list(numbered_lines(path))


def test_a_file_too_large_to_be_read_whole_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("[1,\n2]")
    assert whole_text(path) == "[1,\n2]"
    monkeypatch.setattr(lines, "_LARGEST", 5)
    with pytest.raises(BadData, match="Cut it up"):
        whole_text(path)


def test_a_file_that_is_read_whole_may_be_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_LONGEST", 1000)
    monkeypatch.setattr(lines, "_CHUNK", 100)
    path = tmp_path / "a.json"
    path.write_text("[" + "0, " * 1000 + "0]")
    assert whole_text(path) == path.read_text()
    with pytest.raises(BadData, match="the line is longer than"):
        list(numbered_lines(path))
    monkeypatch.setattr(lines, "_LARGEST", 1000)
    with pytest.raises(BadData, match="the line is longer than"):
        whole_text(path)
