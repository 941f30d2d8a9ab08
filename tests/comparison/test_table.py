import numpy as np
import pytest

from polyseme.comparison.measures import Measure
from polyseme.comparison.table import _Group, _interval
from polyseme.tasks.intervals import share

MEASURE = Measure("accuracy", lambda data, given: np.zeros((0, 2)), lambda sums: sums[..., 0] / sums[..., 1])


def group(points, resampled):
    return _Group(None, [], [], 0, 0, np.asarray(points, float), np.asarray(resampled, float))


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_where_all_is_right_the_interval_is_not_a_point(n_seeds):
    low, high = _interval(group([1.0] * n_seeds, np.ones((n_seeds, 100))), MEASURE, 20)
    assert (low, high) == (pytest.approx(share(20, 20).low), 1.0)
    low, high = _interval(group([0.0] * n_seeds, np.zeros((n_seeds, 100))), MEASURE, 20)
    assert (low, high) == (0.0, pytest.approx(share(0, 20).high))


def test_an_interval_holds_its_score():
    """What resampling loses is added twice: with many classes all draws can lie above the score."""
    low, high = _interval(group([0.4], np.linspace(0.3, 0.32, 100)[None]), MEASURE, 50)
    assert low == 0.4 < high
