"""Masks: the statistics of the specification over more than 100,000 masked positions."""

from itertools import groupby

import numpy as np
import pytest

from polyseme.pretrain.examples import Examples
from polyseme.pretrain.masking import SPAN_MOST, Noise, Rates, mask, n_wanted, span_lengths

MASK, N_PIECES = 4, 1000
NOISE = Noise(MASK, np.arange(5, N_PIECES))


def examples(n_sequences: int = 400, length: int = 128, seed: int = 0, shorter: bool = True) -> Examples:
    """[CLS] words [SEP] words [SEP], where a word has one to four pieces and no piece comes by chance elsewhere."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(12, length + 1, n_sequences) if shorter else np.full(n_sequences, length)
    offsets = np.append(0, lengths.cumsum())
    special = np.zeros(offsets[-1], np.bool_)
    special[offsets[:-1]] = special[offsets[1:] - 1] = special[offsets[:-1] + lengths // 2] = True
    begins = draw.random(offsets[-1]) < 0.7
    begins |= special | np.append(True, special[:-1])
    ids = np.where(special, 2, draw.integers(5, N_PIECES, offsets[-1]))
    return Examples(ids, offsets, begins, special, None, np.zeros(n_sequences, np.bool_))


def masked(whole=False, rates=Rates(), seed=0, some=None):
    some = some or examples()
    return some, mask(some, rates, NOISE, whole, np.random.default_rng(seed))


def words_of(some: Examples) -> np.ndarray:
    return some.begins.cumsum() - 1


@pytest.mark.parametrize("whole", [False, "word", "span"])
def test_of_a_hundred_thousand_predictions_80_10_and_10_percent_are_mask_random_and_kept(whole):
    shown, stood, n_positions = [], [], 0
    for seed in range(7):
        some, task = masked(whole, seed=seed, some=examples(800, seed=seed, shorter=False))
        shown.append(task.ids[task.places])
        stood.append(task.targets)
        n_positions += len(some.ids)
    shown, stood = np.concatenate(shown), np.concatenate(stood)
    assert len(shown) > 100_000
    assert len(shown) / n_positions == pytest.approx(0.15, abs=0.002)
    margin = 0.004 if whole != "span" else 0.008  # whole spans share a fate, so that there are fewer draws
    assert (shown == MASK).mean() == pytest.approx(0.8, abs=margin)
    assert (shown == stood).mean() == pytest.approx(0.1 + 0.1 / 995, abs=margin)
    random = shown[(shown != MASK) & (shown != stood)]
    counts = np.bincount(random, minlength=N_PIECES)
    assert counts[:5].sum() == 0
    assert ((counts[5:] - counts[5:].mean()) ** 2).sum() / counts[5:].mean() < 1150  # chi-square, 994 degrees


@pytest.mark.parametrize("whole", [False, "word", "span"])
@pytest.mark.parametrize("rate", [0.15, 0.4, 0.8])
def test_each_sequence_has_as_many_predictions_as_its_length_says(whole, rate):
    some, task = masked(whole, Rates(rate, rate))
    found = np.bincount(some.sequence[task.places], minlength=len(some.lengths))
    wanted = np.minimum(n_wanted(some.lengths, rate), some.lengths - 3)
    assert (found <= wanted).all()
    if whole:  # a word that does not fit any more is left alone, whole
        assert (wanted - found).mean() < 0.3
    else:
        assert (found == wanted).all()


def test_the_number_of_predictions_is_the_papers():
    assert n_wanted(np.array([3, 10, 128, 512]), 0.15).tolist() == [1, 2, 19, 77]  # max(1, round(length * 0.15))
    assert n_wanted(np.array([128]), 0.0).tolist() == [0]


@pytest.mark.parametrize("whole", [False, "word", "span"])
def test_nothing_special_is_touched_and_nothing_else_is_changed(whole):
    some, task = masked(whole)
    assert not some.special[task.places].any()
    changed = np.flatnonzero(task.ids != some.ids)
    assert np.isin(changed, task.places).all()
    assert (task.targets == some.ids[task.places]).all()
    assert (np.diff(task.places) > 0).all()


@pytest.mark.parametrize("whole", ["word", "span"])
def test_all_pieces_of_a_word_are_asked_for_together(whole):
    some, task = masked(whole)
    words = words_of(some)
    asked = np.bincount(words[task.places], minlength=words[-1] + 1)
    assert np.isin(asked, [0]).any()
    assert ((asked == 0) | (asked == np.bincount(words))).all()


def test_single_pieces_are_asked_for_apart():
    some, task = masked(False)
    words = words_of(some)
    asked, sizes = np.bincount(words[task.places], minlength=words[-1] + 1), np.bincount(words)
    assert ((asked > 0) & (asked < sizes)).any()


def test_every_position_is_as_likely_as_every_other():
    some = examples(50, length=40, shorter=False)
    counts = np.zeros(len(some.ids))
    for seed in range(400):
        counts[masked(False, some=some, seed=seed)[1].places] += 1
    ordinary = counts[~some.special] / 400
    assert ordinary.mean() == pytest.approx(6 / 37, abs=1e-9)
    assert ordinary.std() == pytest.approx(np.sqrt(6 / 37 * 31 / 37 / 400), rel=0.1)


def test_the_lengths_of_spans_are_geometric():
    lengths = span_lengths(200_000, np.random.default_rng(0))
    shares = np.bincount(lengths, minlength=SPAN_MOST + 1)[1:] / len(lengths)
    wanted = 0.2 * 0.8 ** np.arange(10) / (1 - 0.8**10)
    assert shares == pytest.approx(wanted, abs=0.003)
    assert lengths.mean() == pytest.approx(3.8, abs=0.02)  # as in the paper


def test_spans_are_several_words_in_a_row_that_share_their_fate():
    some, task = masked("span", Rates(0.15, 0.15))
    words = words_of(some)[task.places]
    runs = [list(run) for _, run in groupby(enumerate(np.unique(words)), lambda pair: pair[1] - pair[0])]
    assert 2.2 < np.mean([len(run) for run in runs]) < 4.5
    _, alone = masked("word", Rates(0.15, 0.15))
    lone = np.unique(words_of(some)[alone.places])
    assert np.mean(np.diff(lone) == 1) < 0.5 * np.mean(np.diff(np.unique(words)) == 1)
    neighbours = (np.diff(task.places) == 1) & (np.diff(some.sequence[task.places]) == 0)
    is_mask = task.ids[task.places] == MASK
    assert (is_mask[1:] == is_mask[:-1])[neighbours].mean() > 0.9  # 0.68 if each had its own


def test_masks_are_the_same_for_a_seed_and_fresh_for_another():
    for whole in (False, "word", "span"):
        one, again, other = (masked(whole, seed=seed)[1] for seed in (1, 1, 2))
        assert np.array_equal(one.ids, again.ids)
        assert np.array_equal(one.places, again.places)
        assert len(np.intersect1d(one.places, other.places)) < 0.3 * len(one.places)


@pytest.mark.parametrize("whole", [False, "word", "span"])
def test_more_may_be_corrupted_than_predicted(whole):
    some, task = masked(whole, Rates(predict=0.15, corrupt=0.4))
    assert len(task.places) / len(some.ids) == pytest.approx(0.15, abs=0.01)
    assert (task.ids != some.ids).mean() == pytest.approx(0.9 * 0.4, abs=0.02)
    assert (task.ids[task.places] != task.targets).mean() == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("whole", [False, "word", "span"])
def test_more_may_be_predicted_than_corrupted(whole):
    some, task = masked(whole, Rates(predict=0.4, corrupt=0.15))
    assert len(task.places) / len(some.ids) == pytest.approx(0.4, abs=0.01)
    assert (task.ids != some.ids).mean() == pytest.approx(0.9 * 0.15, abs=0.01)
    assert np.isin(np.flatnonzero(task.ids != some.ids), task.places).all()


def test_the_parts_of_the_noise_can_be_chosen():
    some = examples()
    task = mask(some, Rates(), Noise(MASK, NOISE.ordinary, masked=1.0, random=0.0), False, np.random.default_rng(0))
    assert (task.ids[task.places] == MASK).all()
    task = mask(some, Rates(), Noise(MASK, NOISE.ordinary, masked=0.0, random=0.0), False, np.random.default_rng(0))
    assert np.array_equal(task.ids, some.ids)


def test_a_sequence_of_one_piece_is_masked():
    special = np.array([True, False, True])
    one = Examples(np.array([2, 9, 3]), np.array([0, 3]), np.ones(3, np.bool_), special, None, np.array([False]))
    for whole in (False, "word", "span"):
        assert masked(whole, some=one)[1].places.tolist() == [1]


def test_a_word_longer_than_what_is_wanted_is_left_alone():
    special = np.array([True, *[False] * 5, True])
    begins = np.array([True, True, False, False, False, False, True])
    long = Examples(np.arange(7) + 5, np.array([0, 7]), begins, special, None, np.array([False]))
    for whole in ("word", "span"):
        assert masked(whole, some=long)[1].places.tolist() == []
