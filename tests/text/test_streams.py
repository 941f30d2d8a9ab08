import gzip
import random
import sys

import pytest
import zstandard

from polyseme.errors import BadData, MissingExtra
from polyseme.text.streams import blocks

TEXT = "".join(random.Random(1).choices("abc \n", k=300_000)).encode()


def packed(text):
    return zstandard.ZstdCompressor(write_checksum=True).compress(text)


def read(path, **options):
    return b"".join(blocks(path, **options))


def test_plain_and_packed_files_have_the_same_bytes(tmp_path):
    files = {"a.txt": TEXT, "a.txt.gz": gzip.compress(TEXT), "a.txt.zst": packed(TEXT), "b.ZST": packed(TEXT)}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        assert read(tmp_path / name) == TEXT, name


def test_no_block_is_larger_than_asked_however_well_it_was_packed(tmp_path):
    path = tmp_path / "zeros.zst"
    path.write_bytes(packed(bytes(20_000_000)))
    sizes = [len(block) for block in blocks(path, size=1 << 20)]
    assert sum(sizes) == 20_000_000
    assert max(sizes) <= 1 << 20


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a.zst"])
def test_the_bytes_done_rise_to_the_size_on_disk(tmp_path, name):
    path = tmp_path / name
    path.write_bytes({"a.txt": TEXT, "a.gz": gzip.compress(TEXT), "a.zst": packed(TEXT)}[name])
    done = []
    read(path, on_read=done.append, size=1000)
    assert done == sorted(done)
    assert done[-1] == path.stat().st_size


def test_all_frames_of_a_zst_file_are_read(tmp_path):
    skipped = bytes.fromhex("502a4d18") + (3).to_bytes(4, "little") + b"xyz"
    unsized = zstandard.ZstdCompressor().compressobj()
    frames = [packed(TEXT), skipped, unsized.compress(TEXT) + unsized.flush(), packed(b""), packed(bytes(100_000))]
    (tmp_path / "a.zst").write_bytes(b"".join(frames))
    assert read(tmp_path / "a.zst") == TEXT + TEXT + bytes(100_000)


@pytest.mark.parametrize("frame", [packed(TEXT[:2000]), packed(bytes(300_000)), packed(b"")])
def test_a_zst_file_that_is_cut_off_anywhere_is_refused(tmp_path, frame):
    path = tmp_path / "a.zst"
    for end in range(4, len(frame), max(1, len(frame) // 40)):
        path.write_bytes(packed(b"first") + frame[:end])
        with pytest.raises(BadData, match=r"a\.zst: the packed data ends too early"):
            read(path)


def test_a_gz_file_that_is_cut_off_is_refused(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT)[:-9])
    with pytest.raises(BadData, match=r"damaged .* Copy or download it again"):
        read(path)


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_what_is_not_packed_at_all_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"plain text, really")
    with pytest.raises(BadData, match="not packed so"):
        read(tmp_path / name)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.zst").write_bytes(packed(TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"needs zstandard.*polyseme\[data\]"):
        read(tmp_path / "a.zst")
