import gzip

import pytest

from polyseme.tasks.sheets import open_sheet

ROWS = [["good", "1"], ["bad", "0"]]


@pytest.mark.parametrize(
    "name, content, is_json",
    [
        ("a.csv", "text,label\ngood,1\nbad,0\n", False),
        ("a.CSV", "text,label\ngood,1\nbad,0\n", False),
        ("a.jsonl", '{"text": "good", "label": "1"}\n{"text": "bad", "label": "0"}\n', True),
        ("a.json", '{"text": "good", "label": "1"}\n{"text": "bad", "label": "0"}\n', True),
        ("a.txt", '\n{"text": "good", "label": "1"}\n{"text": "bad", "label": "0"}\n', True),
        ("a", "text\tlabel\ngood\t1\nbad\t0\n", False),
        ("a.csv.gz", "text,label\ngood,1\nbad,0\n", False),
    ],
)
def test_the_format_is_seen_from_the_suffix_or_the_first_line(tmp_path, name, content, is_json):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith("gz") else content.encode())
    sheet = open_sheet(path)
    assert (sheet.dialect is None) == is_json
    assert sheet.columns == ("text", "label")
    assert [row.cells for row in sheet.rows()] == ROWS
    assert [row.cells for row in sheet.rows()] == ROWS  # a second time


def test_the_line_of_a_cell_of_a_json_line_is_that_of_the_object(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a\\nb", "label": "c"}\n')
    sheet = open_sheet(path)
    assert sheet.line_of(next(sheet.rows()), 1) == 1
