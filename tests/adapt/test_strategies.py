import math

import pytest

from polyseme.adapt.strategies import factors, rate_factor


def test_frozen_learns_nothing_and_full_learns_everything():
    assert factors("frozen", 4, epoch=9) == (0, 0, 0, 0)
    assert factors("full", 4, epoch=0) == (1, 1, 1, 1)


def test_gradual_thaws_one_block_an_epoch_from_the_top():
    thawed = [[factor > 0 for factor in factors("gradual", 3, epoch)] for epoch in range(5)]
    assert thawed == [[False] * 3, [False, False, True], [False, True, True], [True] * 3, [True] * 3]


@pytest.mark.parametrize("epoch", range(6))
def test_discriminative_rates_equal_the_closed_form(epoch):
    found = factors("gradual", 4, epoch, decay=1 / 2.6)
    for block, factor in enumerate(found):
        wanted = 2.6 ** -(3 - block) if block >= 4 - epoch else 0.0
        assert math.isclose(factor, wanted, rel_tol=1e-12, abs_tol=0)


def test_each_thawing_epoch_has_a_slanted_triangle_of_its_own_and_the_rest_share_one():
    n_blocks, steps, epochs = 2, 40, 5

    def closed(t, total, cut_part=0.1, ratio=32):
        cut = int(total * cut_part)
        p = t / cut if t < cut else 1 - (t - cut) / (cut * (1 / cut_part - 1))
        return (1 + p * (ratio - 1)) / ratio

    for step in range(steps * epochs):
        epoch = step // steps
        wanted = closed(step % steps, steps) if epoch < 2 else closed(step - 2 * steps, 3 * steps)
        assert abs(rate_factor("gradual", n_blocks, step, steps, epochs, 0.1) - wanted) < 1e-12


def test_full_warms_up_and_falls_to_zero():
    found = [rate_factor("full", 4, step, 10, 10, 0.1) for step in range(100)]
    assert found[9] == 1.0
    assert found[0] == pytest.approx(0.1)
    assert found[-1] == pytest.approx(1 / 90)
