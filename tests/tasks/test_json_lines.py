import re

import pytest

from polyseme.errors import BadData
from polyseme.tasks.json_lines import ABSENT, has_half_pair, header, parse_json, rows


def write(folder, content):
    path = folder / "a.jsonl"
    path.write_text(content, newline="")
    return path


def test_columns_are_the_keys_of_the_first_objects(tmp_path):
    path = write(tmp_path, '{"text": "a"}\n\n{"label": 1, "text": ["b", "c"]}\r\n')
    assert header(path) == ("text", "label")
    assert [tuple(row) for row in rows(path, ("text", "label"))] == [(1, ["a", ABSENT]), (3, [["b", "c"], 1])]


@pytest.mark.parametrize(
    "line, problem",
    [
        ('{"text": "a"', "is not JSON: Expecting ',' delimiter at character"),
        ("text,label", "is not JSON: Expecting value at character 1"),
        ('["a"]', "found ['a']; wanted an object"),
        ("3", "found 3; wanted an object"),
        ("[", "found the start of a list"),
        ('{"text": "a", "text": "b"}', "the key 'text' twice"),
        ("[" * 100_000, "list"),
        ('{"a":' * 100_000, "nested too deep"),
        ('{"a": ' + "9" * 5000 + "}", "is not JSON"),
    ],
)
def test_a_line_that_is_no_object_is_named(tmp_path, line, problem):
    with pytest.raises(BadData, match=re.escape(problem)) as caught:
        list(rows(write(tmp_path, '{"text": "a"}\n' + line + "\n"), ("text",)))
    assert caught.value.line == 2


def test_an_empty_file_is_refused(tmp_path):
    for content in ("", "\n \n"):
        with pytest.raises(BadData, match="it is empty"):
            header(write(tmp_path, content))


def test_half_a_surrogate_pair_is_seen():
    assert has_half_pair(parse_json(r'"\ud83d"'))
    assert not has_half_pair(parse_json(r'"\ud83d\ude00 é"'))
