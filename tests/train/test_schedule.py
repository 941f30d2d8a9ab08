"""Learning rates at the edges."""

import pytest

from polyseme.train.schedule import slanted_triangular, warm_up_linear


@pytest.mark.parametrize("warm_up", [0, 0.01, 0.5, 1, 3, 100])
@pytest.mark.parametrize("n_steps", [1, 2, 10])
def test_warming_up_stays_between_zero_and_one(n_steps, warm_up):
    rates = [warm_up_linear(step, n_steps, warm_up) for step in range(n_steps)]
    assert all(0 < rate <= 1 for rate in rates)


@pytest.mark.parametrize("cut", [0.05, 0.1, 0.37, 0.9])
@pytest.mark.parametrize("n_steps", [1, 7, 33, 1000])
def test_the_triangle_never_falls_below_its_lowest_rate(n_steps, cut):
    rates = [slanted_triangular(step, n_steps, cut, ratio=32) for step in range(n_steps)]
    assert min(rates) >= 1 / 32
    assert max(rates) <= 1
