import json

import pytest

from polyseme.errors import BadData
from polyseme.samples import senses
from polyseme.tasks.senses import Sense, read_inventory, read_senses

SENSE = {"start": 1, "end": 2, "lemma": "take_place", "pos": "verb", "keys": ["take_place%2:30:00::"]}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_words_that_semcor_joins_are_read_apart(tmp_path):
    words = ["It", "took_place", "here", "_"]
    after = {**SENSE, "start": 2, "end": 3, "lemma": "here"}
    (one,) = read_senses(write(tmp_path / "s.jsonl", {"words": words, "senses": [SENSE, after]})).examples
    assert one.words == ("It", "took", "place", "here", "_")
    assert one.senses[0] == Sense(1, 3, ("take_place", "verb"), ("take_place%2:30:00::",))
    assert one.senses[1].start == 3


def test_the_files_read_with_their_counts(shared):
    folder = shared / "data/tasks/senses"
    test = read_senses(folder / "all.jsonl.gz").examples
    assert (len(test), sum(len(one.senses) for one in test)) == (1173, 7253)
    inventory = read_inventory(folder / "inventory.jsonl.gz")
    assert len(inventory) == 23_149
    assert all(sense.lemma in inventory for one in test for sense in one.senses)


def test_a_table_marks_the_word_wherever_it_stands(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text('word,sense,text\nbat,animal,"Bats, a bat and THE BAT!"\n')
    (one,) = read_senses(table).examples
    assert one.words == ("Bats", ",", "a", "bat", "and", "THE", "BAT", "!")
    assert one.senses == (Sense(3, 4, ("bat", ""), ("animal",)), Sense(6, 7, ("bat", ""), ("animal",)))


def test_a_row_of_a_table_without_its_word_is_named(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("word\tsense\ttext\nbat\tanimal\tTwo bats flew.\n")
    with pytest.raises(BadData, match=r"line 2, column 'word': 'bat' is no word of 'Two bats flew\.'"):
        read_senses(table)


def test_the_senses_that_come_along_read():
    assert [len(read_senses(senses(part)).examples) for part in ("train", "test")] == [360, 360]


@pytest.mark.parametrize(
    "row, problem",
    [
        ({"words": ["a"], "senses": [{**SENSE, "start": 1}]}, "line 1, column 'senses': the words from 1 to 2 of 1"),
        ({"words": ["a", "b"], "senses": [{**SENSE, "keys": []}]}, "a list of them, not empty"),
        ({"words": ["a", "b"], "senses": [{"start": 0}]}, "'end' is not there"),
        ({"words": ["a", "b"], "senses": None}, "found None; wanted a list of senses"),
        ({"words": [], "senses": []}, "column 'words': found .*wanted a list of words"),
        ({"senses": []}, "column 'words': the line has none"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, row, problem):
    with pytest.raises(BadData, match=problem):
        read_senses(write(tmp_path / "s.jsonl", row))


def test_a_lemma_that_stands_twice_in_the_inventory_is_told(tmp_path):
    lemma = {"lemma": "go", "pos": "verb", "keys": ["go%1"]}
    with pytest.raises(BadData, match=r"line 2, column 'lemma': 'go' \(verb\) stands there twice"):
        read_inventory(write(tmp_path / "i.jsonl", lemma, lemma))


def test_keys_that_are_no_list_are_refused(tmp_path):
    sense = {"start": 1, "end": 2, "lemma": "bank", "pos": "noun", "keys": "bank%1"}
    (tmp_path / "a.jsonl").write_text(json.dumps({"words": ["a", "bank"], "senses": [sense]}) + "\n")
    with pytest.raises(BadData, match="a list of them, not empty, as keys"):
        read_senses(tmp_path / "a.jsonl")
