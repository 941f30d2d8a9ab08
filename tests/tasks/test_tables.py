import csv
import gzip
import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from polyseme.errors import BadData, Mistake
from polyseme.tasks.examples import Dataset, LabelledText, Pair
from polyseme.tasks.sheets import open_sheet
from polyseme.tasks.tables import check_labels, read_pairs, read_texts

MARKS = list("\",;|\t\n\r'\\ {}[]aé…🙂👩🏽\u200d\u202e\u2066\u200f\u2028\u0085\ufeff\x0b")
ANY = st.integers(1, 0x10FFFF).filter(lambda point: not 0xD800 <= point < 0xE000).map(chr)
UGLY = st.lists(st.sampled_from(MARKS) | ANY, max_size=12).map("".join)


def write(folder, content, name="a.csv"):
    path = folder / name
    path.write_text(content, newline="")
    return path


def quoted_everywhere(table, delimiter, end):
    quoted = [[f'"{cell}"' for cell in (cell.replace('"', '""') for cell in row)] for row in table]
    return "".join(delimiter.join(row) + end for row in quoted)


def quoted_where_needed(table, delimiter, end):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(table)
    return out.getvalue()


@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(UGLY, min_size=n, max_size=n), min_size=1, max_size=6)),
    st.sampled_from(",\t;|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([quoted_everywhere, quoted_where_needed]),
)
@settings(max_examples=150, deadline=None)
def test_any_table_that_is_written_reads_back_equal(rows, delimiter, end, writer):
    names = [f"column {place}" for place in range(len(rows[0]))]
    with tempfile.TemporaryDirectory() as folder:
        sheet = open_sheet(write(Path(folder), writer([names, *rows], delimiter, end)), delimiter)
        assert list(sheet.columns) == names
        found = list(sheet.rows())
    assert [row.cells for row in found] == rows
    newlines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    assert [row.line for row in found] == [2 + sum(newlines[:place]) for place in range(len(rows))]


@given(st.lists(st.tuples(UGLY, UGLY), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_any_json_lines_that_are_written_read_back_equal(rows):
    with tempfile.TemporaryDirectory() as folder:
        content = "\n".join(json.dumps({"text": text, "label": label}) for text, label in rows)
        sheet = open_sheet(write(Path(folder), content, "a.jsonl"))
        assert [tuple(row.cells) for row in sheet.rows()] == rows


VALID = [
    b'text,label\n"good, so ""good""",pos\nbad,neg\n',
    b'{"text": "good", "label": "pos"}\n{"text": ["so", "bad"], "label": 0}\n',
    "text_a;text_b;score\nça;va;1,5\n".encode(),
    b"EU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nPeter NNP I-NP I-PER\n",
    b"# id = 1\n1-2\tvamos\t_\t_\t_\t_\t_\t_\t_\t_\n1\tva\tir\tVERB\tV\t_\t0\troot\t_\t_\n",
    b'{"data": [{"paragraphs": [{"context": "Kim left.", "qas": [{"id": "q", "question": "Who?", "answers": '
    b'[{"text": "Kim", "answer_start": 0}]}]}]}]}',
]


@st.composite
def damaged(draw):
    """Bytes, or a good file with some of its bytes changed, doubled or left out, packed or not."""
    content = bytearray(draw(st.sampled_from(VALID) | st.binary(max_size=80)))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(content)))
        new = draw(st.binary(max_size=3) | st.sampled_from([b'"', b"\n", b"\r", b",", b"\t", b"{", b"\\ud800", b"NaN"]))
        content[place : place + draw(st.integers(0, 3))] = new
    return draw(st.sampled_from([bytes, gzip.compress, zstandard.compress]))(bytes(content))


@given(damaged(), st.sampled_from(["csv", "tsv", "jsonl", "json", "txt", "conllu", "csv.gz", "jsonl.zst"]))
@settings(max_examples=400, deadline=None)
def test_whatever_is_in_a_file_a_reader_reads_it_or_says_what_is_wrong(content, suffix):
    from polyseme.tasks.conll import read_tagged
    from polyseme.tasks.squad import read_questions

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{suffix}"
        path.write_bytes(content)
        for reader, options in [
            (read_texts, {}),
            (read_texts, {"target": None, "quotes": False}),
            (read_texts, {"target": "score", "delimiter": ";"}),
            (read_pairs, {"target": "score"}),
            (read_pairs, {"text_a_column": "text"}),
            (read_tagged, {}),
            (read_tagged, {"tag_column": "upos", "scheme": "IOB2"}),
            (read_questions, {}),
        ]:
            try:
                found = reader(path, **options)
            except Mistake as mistake:
                str(mistake).encode()  # it can be printed
            else:
                assert len(found) > 0


def test_texts_and_labels_are_read_from_each_format(tmp_path):
    wanted = (LabelledText("good, really", "pos"), LabelledText("bad", "neg"))
    comma = write(tmp_path, 'review,stars\n"good, really", pos\nbad,neg\n')
    tab = write(tmp_path, "stars\treview\npos\tgood, really\nneg\tbad\n", "a.tsv")
    jsonl = write(tmp_path, '{"review": "good, really", "stars": "pos"}\n{"review": "bad", "stars": "neg"}', "a.jsonl")
    for path in (comma, tab, jsonl):
        dataset = read_texts(path)
        assert dataset.examples == wanted
        assert dataset.path == path
        assert dataset.label_column == "stars"
        assert dataset.said == (
            f"{path}: text column 'review', label column 'stars' "
            "(guessed; choose with --text or text_column=, --label or label_column=)",
        )


def test_what_was_guessed_about_the_format_is_said_too(tmp_path):
    said = read_texts(write(tmp_path, "text;label\na;b\n"), text_column="text", label_column="label").said
    assert [sentence.split(": ")[1] for sentence in said] == [
        "its fields are parted by semicolons, not commas (in Python choose with delimiter=)"
    ]


def test_pairs_with_classes_or_scores_are_read(tmp_path):
    path = write(tmp_path, "premise\thypothesis\tlabel\nIt rains.\tIt is wet.\t1\n", "a.tsv")
    assert read_pairs(path).examples == (Pair("It rains.", "It is wet.", "1"),)
    assert read_pairs(path, target="score").examples == (Pair("It rains.", "It is wet.", 1.0),)
    assert read_pairs(path, target=None).examples == (Pair("It rains.", "It is wet.", None),)


def test_texts_without_labels_are_read_where_none_are_wanted(tmp_path):
    assert read_texts(write(tmp_path, "text\none\ntwo\n"), target=None).examples == (
        LabelledText("one", None),
        LabelledText("two", None),
    )


def test_json_labels_become_strings_and_lists_of_words_stay_split(tmp_path):
    content = '{"text": ["New York", "is"], "label": 1}\n{"text": "b", "label": true}\n{"text": "c", "label": "x"}'
    assert read_texts(write(tmp_path, content, "a.jsonl")).examples == (
        LabelledText(("New York", "is"), "1"),
        LabelledText("b", "true"),
        LabelledText("c", "x"),
    )


@pytest.mark.parametrize(
    "content, line, column, problem",
    [
        ("text,label\na,pos\nb,\n", 3, "label", "the label is empty"),
        ("text,label\na,pos\nb,  \n", 3, "label", "the label is empty"),
        ("text,label\na,pos\n ,neg\n", 3, "text", "the text is empty"),
        ('text,label\n"two\nlines",pos\n,neg\n', 4, "text", "the text is empty"),
        ('text,label\n"two\nlines",\n', 3, "label", "the label is empty"),  # the line the label is missing on
        ('text,label\na,pos\n"b,neg\n', 3, "text", "never closed"),
        ("text,label\na,pos\nb,c,neg\n", 3, None, "has 3 fields"),
        ("text,label\na,pos\nb\n", 3, None, "has 1 field"),
        ("text,label\n", None, None, "it has columns ('text', 'label') but no rows"),
        ("", None, None, "it is empty"),
        ("text,text\na,b\n", 1, "text", "two columns have the name"),
    ],
)
def test_a_bad_table_is_named_by_line_and_column(tmp_path, content, line, column, problem):
    with pytest.raises(BadData, match=re.escape(problem)) as caught:
        read_texts(write(tmp_path, content))
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(str(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    "line, column, problem",
    [
        ('{"text": 3, "label": "x"}', "text", "found 3; wanted a text in quotes, or a list of its words"),
        ('{"text": {"a": 1}, "label": "x"}', "text", "wanted a text in quotes"),
        ('{"text": ["a", 3], "label": "x"}', "text", "wanted a text in quotes"),
        ('{"text": [], "label": "x"}', "text", "found []; wanted a text"),
        ('{"text": "", "label": "x"}', "text", "the text is empty"),
        ('{"text": null, "label": "x"}', "text", "this row has no text"),
        ('{"label": "x"}', "text", "this row has no text"),
        ('{"text": "a \\ud83d", "label": "x"}', "text", "half a surrogate pair"),
        ('{"text": "a"}', "label", "the label is empty"),
        ('{"text": "a", "label": null}', "label", "the label is empty"),
        ('{"text": "a", "label": 0.5}', "label", "found 0.5; wanted a label: a string or a whole number"),
        ('{"text": "a", "label": ["x"]}', "label", "found ['x']; wanted a label"),
        ('{"text": "a", "label": "x"', None, "is not JSON"),
        ('"text"', None, "wanted an object"),
    ],
)
def test_a_bad_json_line_is_named(tmp_path, line, column, problem):
    with pytest.raises(BadData, match=re.escape(problem)) as caught:
        read_texts(write(tmp_path, '{"text": "a", "label": "x"}\n\n' + line, "a.jsonl"))
    assert (caught.value.line, caught.value.column) == (3, column)


@pytest.mark.parametrize(
    "value, problem",
    [
        ("high", "'high' is not a finite number; wanted a score such as 3.5."),
        ("nan", "'nan' is not a finite number"),
        ("inf", "'inf' is not a finite number"),
        ("1e999", "'1e999' is not a finite number"),
        ('"3,5"', "'3,5' is not a finite number; wanted a score such as 3.5. Write a decimal point."),
        ("", "the score is empty"),
    ],
)
def test_a_score_that_is_no_number_is_named(tmp_path, value, problem):
    with pytest.raises(BadData, match=re.escape(problem)) as caught:
        read_texts(write(tmp_path, f"text,score\na,1\nb,{value}\n"), target="score")
    assert (caught.value.line, caught.value.column) == (3, "score")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "true", '"x"', "null", "[1]", "1" + "0" * 400])
def test_a_json_score_that_is_no_number_is_named(tmp_path, value):
    content = f'{{"text": "a", "score": 1}}\n{{"text": "b", "score": {value}}}'
    with pytest.raises(BadData, match=r"line 2, column 'score'"):
        read_texts(write(tmp_path, content, "a.jsonl"), target="score")


def test_a_target_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(Mistake, match="target='stars' is not known"):
        read_texts(write(tmp_path, "text,label\na,b\n"), target="stars")


def test_a_label_only_the_test_file_has_names_its_neighbour(tmp_path):
    train = read_texts(write(tmp_path, "text,label\na,Positive\nb,Negative\n", "train.csv"))
    test = read_texts(write(tmp_path, 'text,label\na,Negative\n"b\nc",Positve\nd,Positve\ne,Neutral\n', "test.csv"))
    with pytest.raises(BadData) as caught:
        check_labels(train, test)
    assert str(caught.value) == (
        f"{test.path}, line 4, column 'label': the label 'Positve' (2 rows) is in no row of {train.path}, which has "
        f"'Negative', 'Positive'. Did you mean 'Positive'? Correct it, or put rows with it into {train.path}. "
        "The same holds for 'Neutral'."
    )
    check_labels(train, train)
    check_labels(train, Dataset((LabelledText("x", "Negative"),), test.path))


def test_no_reader_needs_torch():
    program = (
        "import sys, polyseme.tasks.tables, polyseme.tasks.conll, polyseme.tasks.squad; print('torch' in sys.modules)"
    )
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONPATH": source})
    assert done.stdout.strip() == "False", done.stderr
