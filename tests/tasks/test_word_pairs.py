import pytest

from polyseme.errors import BadData
from polyseme.tasks.word_pairs import WordPair, read_word_pairs


@pytest.mark.parametrize(
    "name, n", [("MEN-TR-3k", 3000), ("RG-65", 65), ("RW-STANFORD", 2034), ("SIMLEX-999", 999), ("WS-353-ALL", 353)]
)
def test_every_set_reads_with_its_count(shared, name, n):
    assert len(read_word_pairs(shared / f"data/tasks/wordsim/EN-{name}.txt")) == n


def test_a_line_of_names_is_passed_over_and_said(tmp_path):
    (tmp_path / "pairs.txt").write_text("# a set\nword1\tword2\tscore\ncat\tdog\t7.5\n\ncar bus 3\n")
    found = read_word_pairs(tmp_path / "pairs.txt")
    assert found.examples == (WordPair("cat", "dog", 7.5), WordPair("car", "bus", 3.0))
    assert "taken for the names" in found.said[0]


@pytest.mark.parametrize(
    "content, problem",
    [("cat dog 7\ncat dog\n", "line 2: found 'cat dog'"), ("", "it has no pairs"), ("cat dog 7\na b c\n", "line 2")],
)
def test_what_is_no_pair_is_told(tmp_path, content, problem):
    (tmp_path / "pairs.txt").write_text(content)
    with pytest.raises(BadData, match=problem):
        read_word_pairs(tmp_path / "pairs.txt")
