import pytest

from polyseme.errors import BadData, Mistake
from polyseme.tasks.delimited import header, rows, sniff
from polyseme.tasks.records import Dialect


def write(folder, content, name="a.csv"):
    path = folder / name
    path.write_text(content, newline="")
    return path


@pytest.mark.parametrize(
    "name, content, delimiter",
    [
        ("a.csv", "text,label\na,b\n", ","),
        ("a.tsv", "text\tlabel\na, and b\tc\n", "\t"),
        ("a.csv", "text;label\nfine, really;pos\nbad, so bad;neg\n", ";"),
        ("a.csv", "text|label\na|b\n", "|"),
        ("a.csv", "text\tlabel\na\tb\n", "\t"),
        ("a.tsv", "text,label\na,b\n", ","),
        ("a.txt", "text\tlabel\na\tb\n", "\t"),
        ("a.csv", '"text;1";"label,2"\n"a;b";c\n', ";"),
        ("a.csv", "text\njust one, column\n", ","),
        ("a.csv", "id;text, long;label\n1;a, b;c\n2;d;e\n", ";"),  # the header has one of each; the rows decide
        ("a.csv", "text,a;b\nx,1;2\ny,3;4\n", ","),  # both fit: the usual one
        ("a.csv", "", ","),
    ],
)
def test_the_delimiter_is_found(tmp_path, name, content, delimiter):
    assert sniff(write(tmp_path, content, name), None, True)[0] == Dialect(delimiter)


def test_a_delimiter_that_is_not_that_of_the_suffix_is_said(tmp_path):
    path = write(tmp_path, "text;label\na;b\n")
    assert sniff(path, None, True)[1] == [
        f"{path}: its fields are parted by semicolons, not commas (in Python choose with delimiter=)"
    ]
    assert sniff(write(tmp_path, "text,label\na,b\n", "b.csv"), None, True)[1] == []
    assert sniff(write(tmp_path, "text;label\na;b\n", "a.txt"), None, True)[1] == []
    assert sniff(path, ";", True) == (Dialect(";"), [])


def test_a_delimiter_that_is_chosen_wrongly_names_the_right_one(tmp_path):
    path = write(tmp_path, "text;label\na;b\n")
    with pytest.raises(BadData, match=r"a.csv, line 1: delimiter=',' leaves the header in one piece.*semicolons.*';'"):
        sniff(path, ",", True)
    with pytest.raises(Mistake, match="not one character"):
        sniff(path, "::", True)


def test_a_delimiter_of_ones_own_is_taken(tmp_path):
    path = write(tmp_path, "text:label\na, b:c\n")
    assert sniff(path, ":", True) == (Dialect(":"), [])
    assert [row.cells for row in rows(path, Dialect(":"), ("text", "label"))] == [["a, b", "c"]]


def test_names_of_columns_lose_the_spaces_round_them(tmp_path):
    assert header(write(tmp_path, '\ufefftext , "label"\n'), Dialect(",")) == ("text", '"label"')
    assert header(write(tmp_path, "\ufefftext, label\r\n"), Dialect(",")) == ("text", "label")


@pytest.mark.parametrize(
    "content, problem",
    [
        ("", "a.csv: it is empty"),
        ("\n\n", "a.csv: it is empty"),
        ("text,label,text\na,b,c\n", "line 1, column 'text': two columns have the name 'text'"),
        ("text,label\ra,b\rc,d\r", r"line 1: its lines end in \\r alone"),
    ],
)
def test_a_header_that_names_no_columns_is_refused(tmp_path, content, problem):
    with pytest.raises(BadData, match=problem):
        header(write(tmp_path, content), Dialect(","))


@pytest.mark.parametrize(
    "content, line, problem",
    [
        (
            "text,label\na,b\none, two,b\n",
            3,
            "has 3 fields, parted by commas; the header has 2 columns.*from 'b' on.*quotes",
        ),
        ('text,label\n"a\nb",c\nd\n', 4, "has 1 field, parted by commas; the header has 2 columns.*begins 'd'"),
        ("text\na,b\n", 2, r"has 2 fields.*1 column \('text'\)"),
    ],
)
def test_a_row_with_too_many_or_too_few_fields_is_refused(tmp_path, content, line, problem):
    path = write(tmp_path, content)
    with pytest.raises(BadData, match=problem) as caught:
        list(rows(path, Dialect(","), header(path, Dialect(","))))
    assert caught.value.line == line
