"""Marked pieces of a run's text."""

import numpy as np
import pytest

from polyseme.pretrain import corpus, marked_pieces
from polyseme.pretrain.job import Job
from polyseme.text.marks import FAKE, SPECIAL


@pytest.fixture
def text(tmp_path, reading, one_process):
    (tmp_path / "text.txt").write_text("the cat sat .\n\nthe dog sat .\n\nthe cat ran .\n")
    return corpus.prepare(Job((str(tmp_path / "text.txt"),), (), tmp_path, reading, None, lambda report: None))


def test_known_words_keep_their_places_and_new_ones_come_behind_them(text, tmp_path):
    known = (*SPECIAL, "dog", FAKE, FAKE, "unheard")
    made = marked_pieces.prepare(text, tmp_path, known, 60_000, 1)
    assert made.words[: len(known)] == known
    assert set(made.words[len(known) :]) == {"the", "cat", "sat", "ran", "."}
    spelled = [made.words[number] for number in np.asarray(made.train.ids)]
    assert spelled == ["xxbos", "the", "cat", "sat", ".", "xxbos", "the", "dog", "sat", "."]


def test_what_is_there_already_is_found_again(text, tmp_path):
    first = marked_pieces.prepare(text, tmp_path, (), 60_000, 1)
    assert marked_pieces.prepare(text, tmp_path, (*SPECIAL, "other"), 60_000, 1).words == first.words
    (tmp_path / "pieces" / "train_ids.npy").write_bytes(b"damaged")
    assert "other" in marked_pieces.prepare(text, tmp_path, (*SPECIAL, "other"), 60_000, 1).words
