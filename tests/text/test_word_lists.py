"""Files of one word a line."""

import pytest

from polyseme.errors import BadData, BadFile, Mistake
from polyseme.text import word_lists

WORDS = ["the", "\u2028", "\x85", "a b", "caf\u00e9", "\ud800", "\r"]


def test_every_word_reads_back(tmp_path):
    word_lists.write(tmp_path / "vocab.txt", WORDS)
    assert word_lists.read(tmp_path / "vocab.txt") == WORDS
    assert word_lists.read_distinct(tmp_path / "vocab.txt") == WORDS


@pytest.mark.parametrize("word", ["", "a\nb", "\n"])
def test_a_word_that_no_line_can_hold_is_refused(tmp_path, word):
    with pytest.raises(Mistake, match="one word a line"):
        word_lists.write(tmp_path / "vocab.txt", ["a", word])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"a\nb", b"a\nb\n", b"\xef\xbb\xbfa\nb\n", b"a\r\nb\r\n"])
def test_marks_of_other_systems_are_no_part_of_a_word(tmp_path, content):
    (tmp_path / "vocab.txt").write_bytes(content)
    assert word_lists.read(tmp_path / "vocab.txt") == ["a", "b"]


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"", "the file is empty"),
        (b"a\n\nb\n", "line 2: this line is empty"),
        (b"a\nb\na\n", "line 3: 'a' is on line 1 already"),
        (b"a\nb\xff\n", "line 2: this line is not UTF-8"),
    ],
)
def test_a_list_that_cannot_be_one_names_the_line(tmp_path, content, problem):
    (tmp_path / "vocab.txt").write_bytes(content)
    with pytest.raises(BadData, match=problem):
        word_lists.read_distinct(tmp_path / "vocab.txt")


def test_a_missing_file_tells_what_is_there(tmp_path):
    (tmp_path / "config.json").touch()
    with pytest.raises(BadFile, match=r"No vocab\.txt in .* Found: config\.json"):
        word_lists.read(tmp_path / "vocab.txt")
