from statistics import NormalDist

import numpy as np
import pytest

from polyseme.adapt.data import Data
from polyseme.comparison.measures import measures
from polyseme.comparison.statistics import draws, enough, holm, interval, p_value, resample


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def rights(draw, n_seeds, n, between_seeds, between_examples, level=0.8):
    """Whether each seed's model is right of each example: some seeds are better, some examples harder."""
    ease = level + draw.normal(0, between_seeds, (n_seeds, 1)) + draw.normal(0, between_examples, (1, n))
    return (ease + draw.normal(size=(n_seeds, n)) > 0).astype(float)


def truth(between_seeds, between_examples, level=0.8):
    return NormalDist().cdf(level / np.sqrt(1 + between_seeds**2 + between_examples**2))


def test_resampling_is_scoring_resampled_examples():
    draw = np.random.default_rng(0)
    sums = np.stack([draw.random((30, 4)), np.ones((30, 4))], 2)  # (examples, models, sums)
    found = resample(sums, mean, n_resamples=50, seed=3)
    assert found.shape == (4, 50)
    chosen = np.random.default_rng(3).integers(0, 30, (50, 30))
    np.testing.assert_allclose(found[2], [sums[some, 2, 0].mean() for some in chosen])


def test_a_large_test_set_is_resampled_in_parts(monkeypatch):
    from polyseme.comparison import statistics

    sums = np.stack([np.random.default_rng(0).random((40, 2)), np.ones((40, 2))], 2)
    whole = resample(sums, mean, n_resamples=25)
    monkeypatch.setattr(statistics, "_AT_ONCE", 40 * 7)
    np.testing.assert_allclose(resample(sums, mean, n_resamples=25), whole)


@pytest.mark.parametrize("n_seeds, between_seeds, between_examples", [(3, 0.15, 1.0), (5, 0.05, 1.0), (5, 0.0, 0.5)])
def test_an_interval_of_95_percent_covers_the_truth_in_93_to_97_of_100_runs(n_seeds, between_seeds, between_examples):
    draw, n, n_runs = np.random.default_rng(0), 300, 2000
    counts = draw.multinomial(n, [1 / n] * n, 800).astype(float)
    n_covered = 0
    for run in range(n_runs):
        right = rights(draw, n_seeds, n, between_seeds, between_examples)
        low, high = interval(draws(right.mean(1), (right @ counts.T) / n, seed=run))
        n_covered += low <= truth(between_seeds, between_examples) <= high
    assert 0.93 <= n_covered / n_runs <= 0.97


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_macro_f1_of_many_classes_is_covered_too(n_seeds):
    """Of 77 classes with four examples each a resample lacks some: its macro F1 is lower than that of the test set."""
    draw, n, n_classes, n_runs, right = np.random.default_rng(0), 300, 77, 300, 0.7
    measure = measures("classify", [str(number) for number in range(n_classes)])["macro_f1"]
    n_covered = 0
    for run in range(n_runs):
        wanted = draw.integers(n_classes, size=n)
        given = [np.where(draw.random(n) < right, wanted, draw.integers(n_classes, size=n)) for _ in range(n_seeds)]
        data = Data([""] * n, wanted.astype(str))
        sums = np.stack([measure.sums(data, one.astype(str)) for one in given], 1)
        low, high = interval(draws(measure.combine(sums.sum(0)), resample(sums, measure.combine, 300, run), run))
        n_covered += low <= right + (1 - right) / n_classes <= high
    assert 0.92 <= n_covered / n_runs <= 0.98


def test_a_score_near_1_has_more_room_below_it_than_above():
    """With 100 examples and an accuracy of 0.97 the few errors tell little; mirrored draws covered it 80 times."""
    draw, n, n_runs, level = np.random.default_rng(0), 100, 1000, 0.97
    counts = draw.multinomial(n, [1 / n] * n, 800).astype(float)
    n_covered = n_below = 0
    for run in range(n_runs):
        right = (draw.random((1, n)) < level).astype(float)
        low, high = interval(draws(right.mean(1), (right @ counts.T) / n, seed=run))
        n_covered += low <= level <= high
        n_below += level < low
    assert n_covered / n_runs > 0.86
    assert n_below / n_runs < 0.13  # once in twenty all are right, and the interval has no width


def test_two_that_do_not_differ_are_rarely_called_different_and_two_that_do_often():
    draw, n, n_runs = np.random.default_rng(1), 300, 1000
    counts = draw.multinomial(n, [1 / n] * n, 800).astype(float)
    called = {0.0: 0, 0.5: 0}
    for gain in called:
        for run in range(n_runs):
            ease = 0.5 + draw.normal(0, 1, (1, n))
            one, other = (
                (ease + more + draw.normal(0, 0.05, (3, 1)) + draw.normal(size=(3, n)) > 0).astype(float)
                for more in (gain, 0.0)
            )
            difference = one - other
            called[gain] += p_value(draws(difference.mean(1), (difference @ counts.T) / n, seed=run)) < 0.05
    assert called[0.0] / n_runs < 0.07
    assert called[0.5] / n_runs > 0.5


def test_seeds_that_differ_widen_the_interval():
    resampled = np.random.default_rng(0).normal(0.8, 0.01, (1, 2000)).repeat(3, 0)
    alike = interval(draws(np.array([0.8, 0.8, 0.8]), resampled))
    apart = interval(draws(np.array([0.7, 0.8, 0.9]), resampled))
    assert apart[0] < alike[0] < 0.8 < alike[1] < apart[1]
    assert interval(draws(np.array([0.8]), resampled[:1])) == pytest.approx((0.78, 0.82), abs=0.003)


def test_models_that_answer_alike_do_not_differ():
    nothing = np.zeros((3, 2000))
    assert p_value(draws(nothing.mean(1), nothing)) == 1.0


@pytest.mark.parametrize("n_rows", [2, 10, 60, 500])
def test_of_however_many_rows_one_that_is_clearly_other_can_be_called_so(n_rows):
    clear = p_value(np.full(enough(n_rows), 0.3))
    assert holm([clear] * n_rows)[0] < 0.011


def test_holm_never_lowers_a_p_and_keeps_their_order():
    p_values = np.random.default_rng(0).random(20).tolist()
    corrected = holm(p_values)
    assert all(new >= old for new, old in zip(corrected, p_values, strict=True))
    assert np.argsort(p_values).tolist() == sorted(range(20), key=lambda place: (corrected[place], p_values[place]))
    assert holm([]) == []


@pytest.mark.parametrize("n_seeds", [2, 3])
def test_seeds_that_come_to_one_score_by_chance_make_no_interval_of_a_point(n_seeds):
    """With few examples two seeds often have equal scores: what differs is then the examples' part alone."""
    draw, n, n_runs = np.random.default_rng(0), 60, 1000
    counts = draw.multinomial(n, [1 / n] * n, 800).astype(float)
    n_covered = n_inside = n_called = 0
    for run in range(n_runs):
        one, other = ((draw.random((n_seeds, n)) < 0.85).astype(float) for _ in range(2))
        low, high = interval(draws(one.mean(1), (one @ counts.T) / n, seed=run))
        n_covered, n_inside = n_covered + (low <= 0.85 <= high), n_inside + (low <= one.mean() <= high)
        difference = one - other
        n_called += p_value(draws(difference.mean(1), (difference @ counts.T) / n, seed=run)) < 0.01
    assert n_covered / n_runs > 0.93
    assert n_inside == n_runs
    assert n_called / n_runs < 0.02
