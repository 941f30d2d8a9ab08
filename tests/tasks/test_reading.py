"""Files by task, as the verbs read them."""

import pytest

from polyseme.errors import BadData, Mistake
from polyseme.tasks.reading import Columns, read


def write(folder, name, content):
    (folder / name).write_text(content)
    return folder / name


@pytest.mark.parametrize(
    "content",
    [
        "The\nwall\n\nA\ncrack\n",
        "The O\nwall I-X\n\nA B-X\ncrack S-X\n",  # tags that no scheme allows are not looked at
        "1\tThe\t_\t_\t_\t_\t_\t_\t_\t_\n2\twall\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        "1\tA\t_\t_\t_\t_\t_\t_\t_\t_\n2\tcrack\t_\t_\t_\t_\t_\t_\t_\t_\n",
    ],
)
def test_words_to_be_tagged_need_no_tags(tmp_path, content):
    found = read("tag", write(tmp_path, "a.conll", content), labelled=False)
    assert found.inputs == [["The", "wall"], ["A", "crack"]]
    assert found.said == ()


def test_words_to_learn_from_need_tags(tmp_path):
    with pytest.raises(BadData, match="wanted a word and its tag"):
        read("tag", write(tmp_path, "a.conll", "The\nwall\n"))


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("task", ["tag", "span"])
def test_a_column_that_a_task_has_not_is_refused(tmp_path, task, labelled):
    with pytest.raises(Mistake, match="This task has no column for --text; it has "):
        read(task, tmp_path / "absent", Columns(text="words"), labelled)


def test_quote_marks_that_are_text_are_read_in_a_tsv_and_said(tmp_path):
    content = 'text\tlabel\n"Great" film\tpos\n"bad film\tneg\n'
    found = read("classify", write(tmp_path, "a.tsv", content))
    assert found.inputs == ['"Great" film', '"bad film']
    assert any("its quote marks are text" in line for line in found.said)
    with pytest.raises(BadData, match="part the fields by tabs"):
        read("classify", write(tmp_path, "a.csv", content.replace("\t", ",")))


def test_quotes_that_close_are_quotes_in_a_tsv_too(tmp_path):
    found = read("classify", write(tmp_path, "a.tsv", 'text\tlabel\n"one\ttwo"\tpos\n"a ""b"""\tneg\n'))
    assert found.inputs == ["one\ttwo", 'a "b"']
    assert not any("quote marks" in line for line in found.said)


def test_what_was_guessed_is_chosen_by_an_option(tmp_path):
    (said,) = read("classify", write(tmp_path, "a.csv", "review,mood\ngood,pos\nbad,neg\nfine,pos\nawful,neg\n")).said
    assert "--text or text_column=" in said
    assert "--label or label_column=" in said


def test_a_text_or_a_pair_is_chosen_not_both(tmp_path):
    path = write(tmp_path, "a.csv", "one,two,score\na,b,1\nc,d,2\n")
    assert read("regress", path, Columns(text_a="one", text_b="two")).inputs == [("a", "b"), ("c", "d")]
    assert read("regress", path, Columns(text="two")).inputs == ["b", "d"]
    with pytest.raises(Mistake, match="Choose the one or the other"):
        read("regress", path, Columns(text="one", text_a="one"))
