"""Whose a run's folder is."""

import json

import pytest

from polyseme.errors import BadFile, Mistake
from polyseme.train.claim import RUN, claim, refuse_strangers

PRETRAIN = {"verb": "pretrain", "recipe": {"epochs": 3}, "valid": []}
FIT = {"task": "classify", "valid": "None"}  # a verb that does not say its name


def test_until_something_is_learned_a_run_may_change_and_what_was_prepared_is_made_anew(tmp_path):
    claim(tmp_path, PRETRAIN, ["model"], ["corpus", "words.txt"])
    (tmp_path / "corpus").mkdir()
    (tmp_path / "words.txt").touch()
    claim(tmp_path, PRETRAIN, ["model"], ["corpus", "words.txt"])
    assert (tmp_path / "corpus").is_dir()
    other = {**PRETRAIN, "recipe": {"epochs": 4}}
    claim(tmp_path, other, ["model"], ["corpus", "words.txt"])
    assert [path.name for path in tmp_path.iterdir()] == [RUN]
    assert json.loads((tmp_path / RUN).read_text()) == other


def test_once_something_is_learned_the_difference_is_told(tmp_path):
    claim(tmp_path, PRETRAIN, ["model"])
    (tmp_path / "model").mkdir()
    claim(tmp_path, PRETRAIN, ["model"])
    with pytest.raises(Mistake, match=r"recipe\.epochs was 3, is 4"):
        claim(tmp_path, {**PRETRAIN, "recipe": {"epochs": 4}}, ["model"])


def test_a_run_of_an_older_polyseme_that_wrote_down_less_goes_on(tmp_path):
    claim(tmp_path, {"recipe": {"epochs": 3}, "valid": []}, ["model"])
    (tmp_path / "model").mkdir()
    claim(tmp_path, PRETRAIN, ["model"])
    with pytest.raises(Mistake, match="valid was"):
        claim(tmp_path, {**PRETRAIN, "valid": ["a.txt"]}, ["model"])


@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize(
    ("first", "second"), [(PRETRAIN, FIT), (FIT, PRETRAIN), (PRETRAIN, {**PRETRAIN, "verb": "fit"})]
)
def test_what_another_verb_has_begun_is_never_taken_over(tmp_path, first, second, learned):
    claim(tmp_path, first, ["made"])
    if learned:
        (tmp_path / "made").mkdir()
    before = (tmp_path / RUN).read_text()
    with pytest.raises(Mistake, match="holds what polyseme"):
        claim(tmp_path, second, ["other"], ["made"])
    assert (tmp_path / RUN).read_text() == before
    assert (tmp_path / "made").exists() == learned


def test_a_damaged_record_is_told(tmp_path):
    (tmp_path / RUN).write_text('{"recipe": ')
    with pytest.raises(BadFile, match="damaged"):
        claim(tmp_path, PRETRAIN, ["model"])


def test_strangers_are_refused(tmp_path):
    refuse_strangers(tmp_path / "new")
    (tmp_path / ".lock").touch()
    refuse_strangers(tmp_path)
    (tmp_path / "letter.txt").touch()
    with pytest.raises(Mistake, match="files of its own"):
        refuse_strangers(tmp_path)
    with pytest.raises(Mistake, match="is a file"):
        refuse_strangers(tmp_path / "letter.txt")


def test_what_a_kill_left_of_the_mark_itself_is_no_stranger(tmp_path):
    (tmp_path / f".{RUN}.a1b2c3.json").write_text("{")
    refuse_strangers(tmp_path)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(Mistake, match="files of its own"):
        refuse_strangers(tmp_path)
