"""Files and folders that appear all at once."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from polyseme.errors import BadFile, Busy
from polyseme.files import clear_leftovers, damage, json_object, locked, new_file, new_folder, write_file


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


@pytest.fixture
def private():
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_who_may_read_what_is_written_is_the_users_choice(tmp_path, private):
    write_file(tmp_path / "new", "x")
    with new_folder(tmp_path / "folder") as folder:
        (folder / "a").write_text("x")
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "new", tmp_path / "folder")] == [0o600, 0o700]
    assert (tmp_path / "folder" / "a").stat().st_mode & 0o777 == 0o600
    (tmp_path / "new").chmod(0o640)
    write_file(tmp_path / "new", "y")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_a_folder_that_is_held_is_told_from_one_that_cannot_be_held(tmp_path, monkeypatch):
    with locked(tmp_path), pytest.raises(Busy, match=f"process {os.getpid()}"), locked(tmp_path):
        pass

    def refuse(*arguments):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(BadFile, match=r"Function not implemented\. Choose a folder on another"), locked(tmp_path):
        pass


@pytest.mark.parametrize("manifest", ['{"name": "my extension"}', '{"a": "x"}', "not JSON", "[" * 100_000, "{}"])
def test_another_programs_manifest_does_not_make_a_folder_ours(tmp_path, manifest):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "manifest.json").write_text(manifest)
    (tmp_path / "theirs" / "important.js").touch()
    with pytest.raises(BadFile, match=r"did not write \(.*important\.js"), new_folder(tmp_path / "theirs", force=True):
        pass
    assert (tmp_path / "theirs" / "important.js").exists()
    assert damage(tmp_path / "theirs") is not None


def test_what_somebody_put_into_a_folder_of_ours_is_not_lost(tmp_path):
    with new_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("old")
    (tmp_path / "model" / "sub").mkdir()
    (tmp_path / "model" / "sub" / "notes.txt").touch()
    with pytest.raises(BadFile, match=r"did not write \(sub/notes\.txt\)"), new_folder(tmp_path / "model", force=True):
        pass
    (tmp_path / "model" / "sub" / "notes.txt").unlink()
    with new_folder(tmp_path / "model", force=True) as folder:
        (folder / "a").write_text("new")
    assert (tmp_path / "model" / "a").read_text() == "new"
