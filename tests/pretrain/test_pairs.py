"""Sequences: the statistics of the specification over more than 10,000 pairs."""

import random

import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.pretrain import pairs as module
from polyseme.pretrain.pairs import Cuts, Sequences, _shortened, _targets, cut_pairs, cut_singles

LENGTH = 128


def corpus(n_documents: int = 500, seed: int = 0, longest: int = 60, most: int = 150):
    """Where sentences and documents begin."""
    draw = np.random.default_rng(seed)
    documents = np.append(0, draw.integers(1, most, n_documents).cumsum())
    sentences = np.append(0, draw.integers(1, longest, documents[-1]).cumsum())
    return sentences, documents


@pytest.fixture(scope="module")
def text():
    return corpus()


@pytest.fixture(scope="module")
def pairs(text):
    found = cut_pairs(Cuts.of(*text, LENGTH - 3), 0.1, np.random.default_rng(0))
    assert len(found) > 10_000
    return found


def document_of(text, pieces):
    sentences, documents = text
    return np.searchsorted(sentences[documents], pieces, side="right") - 1


def test_about_half_of_the_pairs_follow_each_other(pairs):
    assert 0.44 < pairs.follows.mean() < 0.5  # a sentence alone, as at the end of a document, has no successor


def test_pairs_that_follow_each_other_do(text, pairs):
    ends, begins = (pairs.first + pairs.n_first)[pairs.follows], pairs.second[pairs.follows]
    assert (document_of(text, ends - 1) == document_of(text, begins)).all()
    gaps = begins - ends  # what was cut off where both together were too long
    assert (gaps >= 0).all()
    assert (gaps < 60).all()
    whole = pairs.n_pieces[pairs.follows] < LENGTH - 3
    assert (gaps[whole] == 0).all()
    assert np.isin(begins[whole], text[0]).all()


def test_the_others_come_from_another_document(text, pairs):
    strangers = ~pairs.follows
    assert (document_of(text, pairs.first) != document_of(text, pairs.second))[strangers].all()
    spread = np.bincount(document_of(text, pairs.second[strangers]), minlength=500)
    assert spread.std() < 2 * np.sqrt(spread.mean())  # any of them, as likely as every other


def test_no_part_is_empty_or_leaves_its_document(text, pairs):
    for start, n in ((pairs.first, pairs.n_first), (pairs.second, pairs.n_second)):
        assert (n >= 1).all()
        assert (document_of(text, start) == document_of(text, start + n - 1)).all()


def test_a_tenth_of_the_targets_is_short_and_of_any_length():
    targets = _targets(50_000, LENGTH - 3, 0.1, np.random.default_rng(0))
    short = targets[targets < LENGTH - 3]
    assert len(short) / len(targets) == pytest.approx(0.1, abs=0.005)
    assert (short.min(), short.max()) == (2, LENGTH - 4)
    assert np.bincount(short)[2:].std() < 1.5 * np.sqrt(len(short) / (LENGTH - 5))


def test_pairs_are_full_except_short_ones_and_the_ends_of_documents(text, pairs):
    assert pairs.n_pieces.max() == LENGTH - 3
    never_short = cut_pairs(Cuts.of(*text, LENGTH - 3), 0.0, np.random.default_rng(0))
    full, without = ((each.n_pieces == LENGTH - 3).mean() for each in (pairs, never_short))
    assert without > 0.9
    assert without - full == pytest.approx(0.1 * 0.8, abs=0.03)  # some of the short ones become full after all


def test_every_sentence_is_read_as_a_first_or_a_following_part(text):
    """Nothing but what is cut off from pairs that are too long is lost."""
    sentences, _ = text
    found = cut_pairs(Cuts.of(*text, LENGTH - 3), 0.1, np.random.default_rng(3))
    read = np.zeros(sentences[-1] + 1, np.int64)
    own = [(found.first, found.n_first), (found.second[found.follows], found.n_second[found.follows])]
    for start, n in own:
        np.add.at(read, start, 1)
        np.add.at(read, start + n, -1)
    assert read.cumsum().max() == 1
    assert (read.cumsum()[:-1] == 1).mean() > 0.8


def shortened_one_by_one(n_first: int, n_second: int, room: int, draw: random.Random):
    """The paper's truncate_seq_pair."""
    first, second = list(range(n_first)), list(range(n_second))
    while len(first) + len(second) > room:
        longer = first if len(first) > len(second) else second
        longer.pop(0 if draw.random() < 0.5 else -1)
    return first, second


def test_pairs_are_shortened_as_in_the_papers_code():
    for room in (10, 11):
        for n_first in range(1, 15):
            for n_second in range(1, 15):
                first, second = shortened_one_by_one(n_first, n_second, room, random.Random(0))
                one = Sequences(*(np.array([n]) for n in (0, n_first, 100, n_second)), np.array([True]))
                found = _shortened(one, room, np.random.default_rng(0))
                assert (found.n_first[0], found.n_second[0]) == (len(first), len(second))
                assert 0 <= found.first[0] <= n_first - len(first)
                assert 0 <= found.second[0] - 100 <= n_second - len(second)


def test_pieces_are_lost_at_both_ends_alike():
    n = 10_000
    parts = (np.zeros(n, np.int64), np.full(n, 30), np.full(n, 1000), np.full(n, 4))
    found = _shortened(Sequences(*parts, np.ones(n, np.bool_)), 14, np.random.default_rng(0))
    assert found.first.mean() == pytest.approx(10, abs=0.1)  # of twenty
    assert found.first.std() == pytest.approx(np.sqrt(20) / 2, rel=0.05)


def test_single_sequences_begin_with_a_sentence_and_lose_nothing(text):
    sentences, _ = text
    found = cut_singles(Cuts.of(*text, LENGTH - 2), 0.0, np.random.default_rng(0))
    assert np.isin(found.first, sentences).all()
    assert (found.n_second == 0).all()
    read = np.zeros(sentences[-1] + 1, np.int64)
    np.add.at(read, found.first, 1)
    np.add.at(read, found.first + found.n_first, -1)
    assert (read.cumsum()[:-1] >= 1).all()
    assert (read.cumsum()[:-1] == 1).mean() > 0.75  # the sentence that had no room is read again
    ends_document = np.isin(found.first + found.n_first, sentences[text[1]])
    assert ((found.n_first == LENGTH - 2) | ends_document).all()
    assert (document_of(text, found.first) == document_of(text, found.first + found.n_first - 1)).all()


def test_a_tenth_of_single_sequences_is_short_on_purpose(text):
    found = cut_singles(Cuts.of(*text, LENGTH - 2), 0.1, np.random.default_rng(0))
    ends_document = np.isin(found.first + found.n_first, text[0][text[1]])
    short = found.n_first[~ends_document]
    assert (short < LENGTH - 2).mean() == pytest.approx(0.1, abs=0.02)
    lengths = short[short < LENGTH - 2]
    assert lengths.min() <= 4
    assert lengths.mean() == pytest.approx((2 + 125) / 2, rel=0.15)


def test_sentences_longer_than_a_sequence_are_several():
    cuts = Cuts.of(np.array([0, 5, 30, 34]), np.array([0, 2, 3]), 10)
    assert cuts.sentences.tolist() == [0, 5, 15, 25, 30, 34]
    assert cuts.documents.tolist() == [0, 4, 5]
    found = cut_singles(cuts, 0.0, np.random.default_rng(0))
    order = np.argsort(found.first)
    assert found.first[order].tolist() == [0, 5, 15, 25, 30]
    assert found.n_first[order].tolist() == [10, 10, 10, 5, 4]


def test_a_long_document_is_cut_in_parts_side_by_side(monkeypatch):
    monkeypatch.setattr(module, "_STRETCH", 10)
    sentences, documents = corpus(30)
    found = cut_pairs(Cuts.of(sentences, documents, 60), 0.1, np.random.default_rng(0))
    strangers = ~found.follows
    assert (document_of((sentences, documents), found.first) != document_of((sentences, documents), found.second))[
        strangers
    ].all()


def test_pairs_want_two_documents():
    with pytest.raises(Mistake, match="the text has one"):
        cut_pairs(Cuts.of(np.arange(10), np.array([0, 9]), 20), 0.1, np.random.default_rng(0))
