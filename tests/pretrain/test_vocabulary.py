"""The vocabulary of a run's text."""

import pytest

from polyseme.pretrain import recipe
from polyseme.pretrain.job import Job
from polyseme.pretrain.vocabulary import learned, pieces_of, with_domain_words


@pytest.fixture
def job(tmp_path, reading, grammar):
    (tmp_path / "text.txt").write_text(grammar(60))
    return Job((str(tmp_path / "text.txt"),), (), tmp_path, reading, None, lambda report: None)


def test_its_window_is_the_longest_sequence_that_is_learned_from(job):
    assert learned(recipe("bert-tiny", ["n_pieces=60", "length=32", "long_length=null"]), job).window == 32
    made = learned(recipe("bert-tiny", ["n_pieces=60", "length=32", "long_length=64"]), job)
    assert made.window == 64
    assert made.n_pieces <= 60


def test_domain_words_are_the_most_frequent_ones_that_were_cut(job, tmp_path):
    before = learned(recipe("bert-tiny", ["n_pieces=60"]), job)
    (tmp_path / "text.txt").write_text("catnap catnap sleepsong the rare\n" * 20 + "twice twice\n")
    after = with_domain_words(before, 2, job)
    new = set(after.backend.get_vocab()) - set(before.backend.get_vocab())
    assert new == {"catnap", "rare"}  # of equally frequent ones the first by spelling; "twice" comes too seldom
    assert len(pieces_of(after, "catnap")) == 1 < len(pieces_of(before, "catnap"))
