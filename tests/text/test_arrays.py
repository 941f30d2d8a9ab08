import numpy as np
import pytest

from polyseme.errors import BadFile
from polyseme.text.arrays import Growing, blocks, mapped, write


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.int64])
def test_what_was_appended_is_what_numpy_loads(tmp_path, dtype):
    path = tmp_path / "a.npy"
    with Growing(path, dtype) as file:
        for part in ([1, 2], [], [3]):
            file.append(np.array(part, dtype=np.int64))
    loaded = np.load(path)
    assert loaded.tolist() == [1, 2, 3]
    assert loaded.dtype == dtype
    assert mapped(path, dtype, 3).tolist() == [1, 2, 3]


def test_an_empty_array_can_be_written(tmp_path):
    write(tmp_path / "a.npy", np.zeros(0, dtype=np.uint32))
    assert np.load(tmp_path / "a.npy").shape == (0,)
    assert list(blocks(tmp_path / "a.npy", np.uint32)) == []


def test_blocks_make_up_the_array(tmp_path, monkeypatch):
    monkeypatch.setattr("polyseme.text.arrays._BLOCK", 4)
    write(tmp_path / "a.npy", np.arange(10, dtype=np.uint32))
    assert [block.tolist() for block in blocks(tmp_path / "a.npy", np.uint32)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_file_whose_writing_failed_is_no_array(tmp_path):
    file = Growing(tmp_path / "a.npy", np.uint32)
    file.append(np.arange(3))
    file.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    with pytest.raises(BadFile, match="damaged"):
        mapped(tmp_path / "a.npy", np.uint32, 3)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-1], "damaged"),
        (lambda content: content[:50], "damaged"),
        (lambda content: b"", "damaged"),
        (lambda content: content + b"x", "bytes behind its 3 values"),
        (lambda content: b"x" + content, "damaged"),
        (lambda content: content.replace(b"<u4", b"<f4"), r"holds float32 \(3,\); wanted uint32 \(3,\)"),
        (lambda content: content.replace(b"(3,)", b"(2,)"), r"holds uint32 \(2,\); wanted uint32 \(3,\)"),
        (lambda content: content.replace(b"(3,)", b"(9999999999,)"), "damaged"),
        (lambda content: content.replace(b"'<u4'", b"'|O'"), "damaged"),
    ],
)
def test_a_file_of_another_size_or_type_is_refused(tmp_path, damage, message):
    path = tmp_path / "a.npy"
    write(path, np.arange(3, dtype=np.uint32))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BadFile, match=message):
        mapped(path, np.uint32, 3)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(BadFile, match=r"No a\.npy in"):
        mapped(tmp_path / "a.npy", np.uint32, 3)
