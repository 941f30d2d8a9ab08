import numpy as np
import pytest
from scipy import stats

from polyseme.tasks.intervals import clustered_share, correlation, share


@pytest.mark.parametrize("n_right, n", [(0, 5), (3, 7), (40, 40), (638, 1000)])
def test_the_interval_of_a_share_is_scipys(n_right, n):
    wanted = stats.binomtest(n_right, n).proportion_ci(0.95, method="wilson")
    assert share(n_right, n) == pytest.approx((n_right / n, wanted.low, wanted.high), abs=1e-6)


def test_answers_that_share_their_fate_have_a_wider_interval():
    alone = clustered_share([1, 0] * 50, [1] * 100)
    together = clustered_share([10, 0] * 5, [10] * 10)
    assert alone.value == together.value == 0.5
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_an_interval_of_sentences_holds_the_truth_as_often_as_it_says():
    draw, held = np.random.default_rng(0), 0
    for _ in range(400):
        sizes = draw.integers(1, 20, 60)
        rights = draw.binomial(sizes, draw.beta(6, 2, 60))  # words of a sentence share its ease
        found = clustered_share(rights.tolist(), sizes.tolist())
        held += found.low <= 0.75 <= found.high
    assert 0.9 < held / 400 < 0.99


def test_few_pairs_tell_nothing_of_a_correlation():
    assert correlation(0.5, 3) == (0.5, -1, 1)
    wide, narrow = correlation(0.5, 10), correlation(0.5, 1000)
    assert wide.low < narrow.low < 0.5 < narrow.high < wide.high


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_order_of_few_pairs_is_not_certain(sign):
    few, many = correlation(sign * 1.0, 4), correlation(sign * 1.0, 1000)
    ends = sorted([sign * few.low, sign * few.high])
    assert ends[0] < 0.5 < ends[1] == 1
    assert min(sign * many.low, sign * many.high) > 0.99


@pytest.mark.parametrize("n_right", [0, 2])
def test_sentences_that_are_all_alike_do_not_make_it_certain(n_right):
    found = clustered_share([n_right] * 3, [2] * 3)
    assert found.value == n_right / 2
    assert found.high - found.low > 0.3


def test_a_standard_error_is_that_of_the_formula():
    assert share(800, 1000).error == pytest.approx((0.8 * 0.2 / 1000) ** 0.5, rel=0.1)
    assert correlation(0.0, 1000).error == pytest.approx(1000**-0.5, rel=0.1)
