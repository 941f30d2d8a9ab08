"""Files and folders that appear all at once."""

import json
from pathlib import Path

import pytest

from polyseme.errors import BadFile
from polyseme.files import clear_leftovers, damage, json_object, new_file, new_folder, write_file


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


@pytest.mark.parametrize("nth", [1, 2])
def test_interrupted_while_a_folder_is_replaced_the_old_one_stands(tmp_path, monkeypatch, nth):
    with new_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("old")
    replace, calls = Path.replace, []

    def interrupted(self, target):
        calls.append(target)
        if len(calls) == nth + 1:  # the first call is the manifest's
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "model", force=True) as folder:
        (folder / "a").write_text("new")
    assert (tmp_path / "model" / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_a_kill_left_is_cleared_and_nothing_else(tmp_path):
    for name in (".corpus.a1", ".corpus.b2", ".other.c3", "corpus"):
        (tmp_path / name / "inner").mkdir(parents=True)
    for name in (".run.json.d4.json", ".lock", "run.json"):
        (tmp_path / name).write_text("{}")
    clear_leftovers(tmp_path, ["corpus", "run.json", "absent"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", ".other.c3", "corpus", "run.json"]


def test_a_folder_that_was_being_replaced_when_the_kill_came_stands_again(tmp_path):
    (tmp_path / ".model.old.a1" / "model" / "inner").mkdir(parents=True)
    (tmp_path / ".pieces.old.b2" / "pieces" / "older").mkdir(parents=True)
    (tmp_path / "pieces" / "newer").mkdir(parents=True)
    clear_leftovers(tmp_path, ["model", "pieces"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "pieces"]
    assert (tmp_path / "model" / "inner").is_dir()
    assert (tmp_path / "pieces" / "newer").is_dir()


def test_only_a_json_object_is_one(tmp_path):
    path = tmp_path / "facts.json"
    for content, wanted in (('{"a": 1}', {"a": 1}), ("[1]", None), ("{", None), ("[" * 100_000, None), ("\xff", None)):
        path.write_bytes(content.encode("latin-1"))
        assert json_object(path) == wanted
