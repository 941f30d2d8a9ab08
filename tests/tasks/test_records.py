import re
from pathlib import Path

import pytest

from polyseme.errors import BadData
from polyseme.tasks import records as module
from polyseme.tasks.records import Dialect, line_of, records

PATH = Path("a.csv")


def read(content, delimiter=",", quotes=True, names=()):
    lines = enumerate(re.findall("[^\n]*\n|[^\n]+$", content), 1)
    return [tuple(row) for row in records(lines, Dialect(delimiter, quotes), PATH, names)]


@pytest.mark.parametrize(
    "content, rows",
    [
        ("a,b\nc,d\n", [(1, ["a", "b"]), (2, ["c", "d"])]),
        ("a,b\r\nc,d", [(1, ["a", "b"]), (2, ["c", "d"])]),
        ('"a,1",b\n', [(1, ["a,1", "b"])]),
        ('a,"b ""c"""\n', [(1, ["a", 'b "c"'])]),
        ('"",""\n', [(1, ["", ""])]),
        ('""\n', [(1, [""])]),
        (",\n", [(1, ["", ""])]),
        ('"two\nlines",x\ny,z\n', [(1, ["two\nlines", "x"]), (3, ["y", "z"])]),
        ('"a\r\n\n\nb","c\nd",e\nf,g,h', [(1, ["a\r\n\n\nb", "c\nd", "e"]), (6, ["f", "g", "h"])]),
        ("a,b\n\n\r\nc,d\n\n", [(1, ["a", "b"]), (4, ["c", "d"])]),
        (" \n", [(1, [" "])]),
        ('a "quoted" word,5" nails\n', [(1, ['a "quoted" word', '5" nails'])]),
        ('"a",b "c" d,"e"\n', [(1, ["a", 'b "c" d', "e"])]),
        ('a,"b"', [(1, ["a", "b"])]),
        ('""""\n', [(1, ['"'])]),
    ],
)
def test_rows_and_the_lines_they_begin_on(content, rows):
    assert read(content) == rows


def test_a_lone_quote_inside_a_field_of_a_tsv_is_text():
    assert read('the 5" screen\tbad\nso "so"\tgood\n', "\t") == [
        (1, ['the 5" screen', "bad"]),
        (2, ['so "so"', "good"]),
    ]


def test_without_quotes_every_quote_mark_is_text():
    assert read('"Go!" he said\tx\n"\ty\n', "\t", quotes=False) == [(1, ['"Go!" he said', "x"]), (2, ['"', "y"])]


@pytest.mark.parametrize(
    "content, line, column, problem",
    [
        ('a,b\nc,"d\ne,f\n', 2, "label", "opens '\"d' is never closed"),
        ('a,b\n"c\nd","e\nf\n', 3, "label", "opens '\"e' is never closed"),  # not where the row begins
        ('a,b\n"c"d,e\n', 2, "text", "opens '\"c\"d,e' closes before"),
        ('a,b\n"c" ,e\n', 2, "text", "closes before"),
        # a quote that was forgotten swallows lines until the next one: the first of them is to blame
        ('a,b\nx,y\n"c,pos\nd,neg\n"e",pos\n', 3, "text", "closes on line 5 before"),
        ('a,b,c,"d', 1, None, "never closed"),
    ],
)
def test_a_bad_quote_is_named_where_it_was_opened(content, line, column, problem):
    with pytest.raises(BadData, match=re.escape(problem)) as caught:
        read(content, names=("text", "label"))
    assert (caught.value.path, caught.value.line, caught.value.column) == (PATH, line, column)


def test_a_quote_that_never_closes_does_not_take_the_whole_file_into_memory(monkeypatch):
    monkeypatch.setattr(module, "_LONGEST", 100)
    taken = 0

    def lines():
        nonlocal taken
        for taken in range(1, 100_000):
            yield taken, '"opened\n' if taken == 1 else "a line of text\n"

    with pytest.raises(BadData, match="never closed"):
        list(records(lines(), Dialect(","), PATH))
    assert taken < 20


def test_the_line_of_a_cell_counts_the_line_ends_before_it():
    [first, second] = records(
        iter([(7, '"a\n'), (8, 'b",c,"d\n'), (9, 'e",f\n'), (10, "g,h,i,j\n")]), Dialect(","), PATH
    )
    assert [line_of(first, place) for place in range(4)] == [7, 8, 8, 9]
    assert [line_of(second, place) for place in range(4)] == [10] * 4
