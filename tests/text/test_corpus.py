import gzip
import json
import logging
import sys

import pyarrow
import pytest
import zstandard
from pyarrow import parquet

from polyseme.errors import BadData, MissingExtra, Mistake
from polyseme.text import corpus
from polyseme.text.corpus import Passage, find, passages


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def documents(path, **options):
    """The passages of a file as lists, a document each."""
    found = [[]]
    for passage in passages(path, **options):
        found[-1].append(passage.string)
        if passage.ends_document:
            found.append([])
    assert found.pop() == [], "the last document has no end"
    return found


def json_lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_folders_files_and_globs_are_found_in_order(tmp_path):
    names = ["b.txt", "a/deep/c.jsonl", "a/x.txt.zst", "a/y.jsonl.gz", "z.parquet"]
    for name in [*names, "a/picture.png", ".hidden.txt", "a/.cache/d.txt", "README"]:
        write(tmp_path / name, "text")
    assert find(tmp_path) == sorted(tmp_path / name for name in names)
    assert find([tmp_path / "z.parquet", str(tmp_path / "*.txt")]) == [tmp_path / "b.txt", tmp_path / "z.parquet"]
    assert find([tmp_path / "b.txt", tmp_path]) == find(tmp_path)
    assert find(tmp_path / "**" / "c.*") == [tmp_path / "a/deep/c.jsonl"]
    assert find(tmp_path / "README") == [tmp_path / "README"]


def test_what_is_not_there_is_said(tmp_path):
    write(tmp_path / "a.txt", "text")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(Mistake, match=r"Nothing found at .*b\.txt.*Wanted: a file, a folder or a glob"):
        find([tmp_path / "a.txt", tmp_path / "b.txt"])
    with pytest.raises(Mistake, match=r"Nothing found at .*nothing.*files that end with \.txt, \.jsonl"):
        find(tmp_path / "nothing")


def test_empty_files_are_skipped_and_said(tmp_path, caplog):
    write(tmp_path / "a.txt", "")
    with pytest.raises(Mistake, match="only empty files"):
        find(tmp_path)
    write(tmp_path / "b.txt", "text")
    with caplog.at_level(logging.WARNING):
        assert find(tmp_path) == [tmp_path / "b.txt"]
    assert f"Skipped as empty: {tmp_path / 'a.txt'}" in caplog.text


def test_blank_lines_part_documents(tmp_path):
    path = write(tmp_path / "a.txt", "\n \none\ntwo\n\n\t\n\nthree\n\n")
    assert documents(path) == [["one", "two"], ["three"]]
    assert next(passages(path)) == Passage("one", ends_document=False)


def test_without_blank_lines_between_them_lines_are_documents(tmp_path):
    path = write(tmp_path / "a.txt", "\n\none\r\ntwo\rthree\n\n")
    assert documents(path) == [["one"], ["two"], ["three"]]
    assert documents(path, layout="blocks") == [["one", "two", "three"]]


def test_the_layout_can_be_said(tmp_path):
    path = write(tmp_path / "a.txt", "one\ntwo\n\nthree")
    assert documents(path, layout="lines") == [["one"], ["two"], ["three"]]
    with pytest.raises(Mistake, match=r"layout='block' is unknown.*Did you mean 'blocks'"):
        passages(path, layout="block")


def test_a_blank_line_behind_the_first_megabyte_changes_nothing(tmp_path):
    path = write(tmp_path / "a.txt", "word\n" * (corpus._LOOK_AHEAD // 5) + "last\n\nlast")
    assert len(documents(path)) == corpus._LOOK_AHEAD // 5 + 2


@pytest.mark.parametrize("content", ["a " * 600_000, "\n" * 500_000 + "a", "a" + "\n" * 500_000, "a\n \t" * 100_000])
def test_finding_the_layout_takes_linear_time(tmp_path, content):
    assert documents(write(tmp_path / "a.txt", content))


def test_a_long_line_comes_in_parts_of_one_document(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "_LONGEST_PASSAGE", 10)
    path = write(tmp_path / "a.txt", "one two three four\nfive\n" + " " * 35 + "\n" + "x" * 25)
    assert documents(path) == [["one two", " three", " four", "five"], ["x" * 10, "x" * 10, "x" * 5]]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("kind", [".txt", ".jsonl"])
def test_packed_files_are_read_as_what_they_hold(tmp_path, kind, ending):
    records = json_lines({"text": "one\ntwo"}, {"text": "three"})
    content = b"one\ntwo\n\nthree" if kind == ".txt" else records.encode()
    pack = gzip.compress if ending == ".gz" else zstandard.ZstdCompressor().compress
    assert documents(write(tmp_path / f"a{kind}{ending}", pack(content))) == [["one", "two"], ["three"]]


def test_what_has_an_unknown_ending_is_plain_text(tmp_path):
    assert documents(write(tmp_path / "README", "one\ntwo")) == [["one"], ["two"]]


def test_nul_and_line_separators_pass_through(tmp_path):
    strange = "a\x00b\x0b\x0c\x1c\x85\u2028c"
    assert documents(write(tmp_path / "a.txt", strange)) == [[strange]]


def test_bytes_that_are_no_utf8_are_placed_or_replaced(tmp_path):
    path = write(tmp_path / "a.txt", b"one\ntw\xe9o\n")
    with pytest.raises(BadData, match=r"a\.txt, line 2: byte 6 \(0xe9\)"):
        list(passages(path))
    assert documents(path, errors="replace") == [["one"], ["tw�o"]]
    with pytest.raises(Mistake, match="errors='ignore' is unknown"):
        passages(path, errors="ignore")


def test_records_of_json_are_documents_and_their_lines_paragraphs(tmp_path):
    records = json_lines({"text": "one\r\ntwo\n\n three"}, {"text": " "}) + "\n" + json_lines({"text": "four"})
    path = write(tmp_path / "a.jsonl", records)
    assert documents(path) == [["one", "two", " three"], ["four"]]


def test_the_field_can_be_named(tmp_path):
    path = write(tmp_path / "a.jsonl", json_lines({"body": "one", "id": 3}))
    assert documents(path, field="body") == [["one"]]
    with pytest.raises(BadData, match=r"line 1: no field 'text', found body, id\. Name the one"):
        list(passages(path))
    with pytest.raises(BadData, match="Did you mean 'body'"):
        list(passages(path, field="bodi"))


def test_half_a_surrogate_pair_is_replaced(tmp_path):
    path = write(tmp_path / "a.jsonl", r'{"text": "a\ud83d b\udc4d \ud83d\udc4d"}')
    assert documents(path) == [["a� b� 👍"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"text": ' + "9" * 10_000 + "}", "not JSON"),
        ("[1]", "found a JSON list"),
        ('{"text": null}', "wanted a string, found None"),
    ],
)
def test_a_line_that_is_no_record_is_placed(tmp_path, line, message):
    path = write(tmp_path / "a.jsonl", json_lines({"text": "fine"}) + line + "\n")
    with pytest.raises(BadData, match=rf"line 2.*{message}"):
        list(passages(path))


def test_a_record_too_long_to_parse_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "_LONGEST_RECORD", 100)
    path = write(tmp_path / "a.jsonl", json_lines({"text": "x" * 100}))
    with pytest.raises(BadData, match=r"more than 100 characters\. Cut it"):
        list(passages(path))


def test_rows_of_parquet_are_documents(tmp_path):
    path, done = tmp_path / "a.parquet", []
    table = pyarrow.table({"text": ["one\ntwo", None, "three", ""], "n": [1, 2, 3, 4]})
    parquet.write_table(table, path, row_group_size=2)
    assert documents(path, on_read=done.append) == [["one", "two"], ["three"]]
    assert done == [path.stat().st_size // 2, path.stat().st_size]


def test_a_column_of_parquet_must_be_there_and_hold_strings(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"texts": ["one"], "n": [1]}), path)
    assert documents(path, field="texts") == [["one"]]
    with pytest.raises(BadData, match=r"no field 'text', found texts, n\. Did you mean 'texts'"):
        list(passages(path))
    with pytest.raises(BadData, match="column 'n': wanted strings, found int64"):
        list(passages(path, field="n"))


def test_a_damaged_parquet_file_is_refused(tmp_path):
    with pytest.raises(BadData, match="cannot be read"):
        list(passages(write(tmp_path / "a.parquet", b"PAR1 not really")))


def test_a_missing_pyarrow_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"needs pyarrow.*polyseme\[data\]"):
        list(passages(write(tmp_path / "a.parquet", b"PAR1")))


def test_the_validation_corpus_has_its_documents(shared):
    found = documents(shared / "data" / "corpus" / "english.valid.txt.zst")
    assert len(found) == 641


@pytest.mark.parametrize("name", ["tickets.csv", "tickets.TSV", "tickets.csv.gz"])
def test_a_table_is_no_corpus(tmp_path, name):
    (tmp_path / name).write_bytes(b"text,label\nno light,bug\n")
    with pytest.raises(BadData, match=r"it is a table.*\.jsonl"):
        list(passages(tmp_path / name))
