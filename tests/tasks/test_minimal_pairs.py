import json

import pytest

from polyseme.errors import BadData
from polyseme.tasks.minimal_pairs import read_minimal_pairs

PAIR = {"sentence_good": "Cats purr.", "sentence_bad": "Cats purrs.", "UID": "agreement", "linguistics_term": "verbs"}


def test_blimp_reads_from_its_folder(shared):
    found = read_minimal_pairs(shared / "data/tasks/blimp").examples
    assert len(found) == 34_000
    assert len({pair.paradigm for pair in found}) == 34
    assert sum(pair.good == pair.bad for pair in found) == 7  # as its authors published it


def test_without_blimps_names_a_file_is_a_paradigm(tmp_path):
    (tmp_path / "verbs.jsonl").write_text(json.dumps({"sentence_good": "a", "sentence_bad": "b"}) + "\n")
    (tmp_path / "words.txt").write_text("no pairs")
    (pair,) = read_minimal_pairs(tmp_path).examples
    assert (pair.good, pair.bad, pair.paradigm, pair.phenomenon) == ("a", "b", "verbs", "verbs")


def test_what_is_no_pair_is_told(tmp_path):
    with pytest.raises(BadData, match=r"no \.jsonl file is in this folder"):
        read_minimal_pairs(tmp_path)
    (tmp_path / "x.jsonl").write_text(json.dumps({**PAIR, "sentence_bad": 3}) + "\n")
    with pytest.raises(BadData, match="column 'sentence_bad': found 3; wanted a text"):
        read_minimal_pairs(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_text(json.dumps({"good": "a", "bad": "b"}) + "\n")
    with pytest.raises(BadData, match="its lines have no 'sentence_good', but good, bad"):
        read_minimal_pairs(tmp_path / "x.jsonl")
