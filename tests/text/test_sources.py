"""The files that text was read from."""

import pytest

from polyseme.errors import BadData
from polyseme.text import sources


@pytest.fixture
def files(tmp_path):
    for name, content in (("a", "one"), ("b", "two"), ("c", "three")):
        (tmp_path / name).write_text(content)
    return [tmp_path / name for name in "abc"]


def test_files_are_known_again_by_path_size_and_content(files):
    known = sources.unchanged(files, sources.look(files))
    told = []
    assert sources.same(files, known, lambda *progress: told.append(progress))
    assert told == [(0, 11), (3, 11), (6, 11)]
    assert not sources.same(files[:2], known)
    assert not sources.same([files[1], files[0], files[2]], known)
    files[1].write_text("six")
    assert not sources.same(files, known)


def test_files_of_another_size_are_not_hashed(files, monkeypatch):
    known = sources.unchanged(files, sources.look(files))
    files[2].write_text("longer")
    monkeypatch.setattr(sources, "sha256", lambda path: pytest.fail("hashed"))
    assert not sources.same(files, known)
    assert sources.shared(files[:1], files[2:]) == []


def test_files_that_two_lists_share_are_found_by_content(files, tmp_path):
    (tmp_path / "copy").write_text("two")
    assert sources.shared([files[0], tmp_path / "copy"], files[1:]) == [tmp_path / "copy"]
    assert sources.shared(files[:1], files[1:]) == []


def test_a_file_that_changes_while_it_is_read_is_refused(files):
    before = sources.look(files)
    files[0].write_text("longer")
    with pytest.raises(BadData, match="changed while it was read"):
        sources.unchanged(files, before)
