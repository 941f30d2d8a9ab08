"""Files and folders that appear all at once."""

import json

import pytest

from polyseme.errors import BadFile
from polyseme.files import damage, new_file, new_folder, write_file


def test_a_file_keeps_its_old_content_when_writing_fails(tmp_path):
    path = tmp_path / "a.txt"
    write_file(path, "old")
    with pytest.raises(RuntimeError), new_file(path, force=True) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_is_hashed_file_by_file(tmp_path):
    with new_folder(tmp_path / "model") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "a").write_text("x")
    assert list(json.loads((tmp_path / "model" / "manifest.json").read_text())) == ["sub/a"]
    assert damage(tmp_path / "model") is None
    (tmp_path / "model" / "sub" / "a").write_text("y")
    assert damage(tmp_path / "model") == "sub/a has changed since it was written"


def test_a_folder_that_is_there_is_only_replaced_by_force(tmp_path):
    with new_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("old")
    with pytest.raises(BadFile, match="--force"), new_folder(tmp_path / "model"):
        pass
    with new_folder(tmp_path / "model", force=True) as folder:
        (folder / "b").write_text("new")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["b", "manifest.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
