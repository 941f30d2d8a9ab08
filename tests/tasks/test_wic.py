import json

import pytest

from polyseme.errors import BadData
from polyseme.tasks.wic import read_wic

HEADER = "word\tpos\tindex_a\tindex_b\ttext_a\ttext_b\tlabel\n"


def test_the_word_stands_where_it_is_said(shared):
    for name, n in (("train", 5428), ("dev", 638)):
        found = read_wic(shared / f"data/tasks/wic/{name}.tsv").examples
        assert len(found) == n
        assert sum(one.same for one in found) == n / 2
        starts = sum(one.words_a[one.place_a][:2].lower() == one.word[:2] for one in found)
        assert starts > 0.95 * n  # "went" is a form of "go"


def test_json_lines_with_the_same_names_read_too(tmp_path):
    row = {"word": "a", "index_a": 0, "index_b": 1, "text_a": "a b", "text_b": "b a", "label": True}
    (tmp_path / "wic.jsonl").write_text(json.dumps(row) + "\n")
    (one,) = read_wic(tmp_path / "wic.jsonl").examples
    assert (one.words_b[one.place_b], one.same) == ("a", True)


@pytest.mark.parametrize(
    "row, problem",
    [
        ("go\tV\t2\t0\tto go\tgo on\tsame", "line 2, column 'index_a': place 2 is behind the last of the 2 words"),
        ("go\tV\t-1\t0\tto go\tgo on\tsame", "column 'index_a': found '-1'; wanted a whole number"),
        ("go\tV\t1\t0\tto go\tgo on\tmaybe", "column 'label': found 'maybe'; wanted one of same, different"),
        ("go\tV\t1\t0\tto go\t\tsame", "column 'text_b': found ''; wanted a text"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, row, problem):
    (tmp_path / "wic.tsv").write_text(HEADER + row + "\n")
    with pytest.raises(BadData, match=problem):
        read_wic(tmp_path / "wic.tsv")


def test_a_column_that_is_absent_is_named(tmp_path):
    (tmp_path / "wic.tsv").write_text("word\ttext_a\ttext_b\tlabel\nx\ty\tz\tsame\n")
    with pytest.raises(BadData, match=r"there is no column 'index_a'.* WiC has word, index_a"):
        read_wic(tmp_path / "wic.tsv")


def test_a_place_of_endless_digits_is_told(tmp_path):
    row = f"x\t{'1' * 5000}\t0\ta x\tx a\tT\n"
    (tmp_path / "a.tsv").write_text("word\tindex_a\tindex_b\ttext_a\ttext_b\tlabel\n" + row)
    with pytest.raises(BadData, match="wanted a whole number from 0"):
        read_wic(tmp_path / "a.tsv")
