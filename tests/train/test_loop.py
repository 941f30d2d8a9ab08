"""The loop: any step can be the first."""

import pytest
import torch
from torch import nn

from polyseme.errors import Mistake
from polyseme.train import optim
from polyseme.train.loop import train
from polyseme.train.schedule import slanted_triangular, warm_up_linear


def model(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Dropout(0.5), nn.Linear(8, 2))


def loss_with(module):
    def loss_of(step, state):
        inputs = torch.randn(16, 4)  # from the step's own seed
        state = (torch.zeros(1) if state is None else state[0] + inputs.mean(),)
        return module(inputs).square().mean() + state[0].sum() * 0, state

    return loss_of


@pytest.mark.parametrize("name", ["adagrad", "adamw"])
def test_stopping_and_going_on_gives_the_same_bits(name):
    whole = model()
    optimizer = optim.make(name, whole, 0.1, weight_decay=0.01)
    losses = [p.loss for p in train(loss_with(whole), optimizer, lambda s: 0.1 / (s + 1), range(10), seed=5)]

    first = model()
    optimizer = optim.make(name, first, 0.1, weight_decay=0.01)
    *_, last = train(loss_with(first), optimizer, lambda s: 0.1 / (s + 1), range(6), seed=5)
    saved = {name: tensor.clone() for name, tensor in first.state_dict().items()}
    slots = {name: tensor.clone() for name, tensor in optim.state_tensors(optimizer).items()}

    second = model(seed=99)
    second.load_state_dict(saved)
    optimizer = optim.make(name, second, 0.1, weight_decay=0.01)
    optim.load_state_tensors(optimizer, slots)
    steps = train(loss_with(second), optimizer, lambda s: 0.1 / (s + 1), range(6, 10), seed=5, state=last.state)
    assert [p.loss for p in steps] == losses[6:]
    assert all(a.equal(b) for a, b in zip(second.parameters(), whole.parameters(), strict=True))


def test_a_group_with_factor_zero_stays_as_it_is():
    module = model()
    groups = [{"params": module[0].parameters(), "factor": 0.0}, {"params": module[3].parameters()}]
    optimizer = torch.optim.AdamW(groups)
    before = [p.clone() for p in module.parameters()]
    list(train(loss_with(module), optimizer, lambda s: 0.1, range(2), seed=0))
    changed = [not a.equal(b) for a, b in zip(module.parameters(), before, strict=True)]
    assert changed == [False, False, False, False, True, True]


def test_weight_decay_spares_biases_and_norms():
    matrices, vectors = optim.decay_groups(model(), 0.01)
    assert [p.ndim for p in matrices["params"]] == [2, 2]
    assert [p.ndim for p in vectors["params"]] == [1, 1, 1, 1]
    assert vectors["weight_decay"] == 0


def test_the_norm_is_clipped_and_told():
    module = model()
    before = nn.utils.parameters_to_vector(module.parameters()).detach()
    optimizer = torch.optim.SGD(module.parameters(), lr=1)
    (told,) = train(loss_with(module), optimizer, lambda s: 1.0, range(1), seed=0, most_norm=1e-3)
    moved = nn.utils.parameters_to_vector(module.parameters()).detach() - before
    assert told.norm > 1e-2
    assert moved.norm() == pytest.approx(1e-3, rel=0.01)


def test_a_loss_that_is_no_number_stops_the_run():
    module = model()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    with pytest.raises(Mistake, match="step 1 is not a number"):
        list(
            train(
                lambda s, _: (module(torch.full((1, 4), torch.nan)).sum(), None), optimizer, lambda s: 0.1, range(3), 0
            )
        )


def test_a_gradient_that_is_infinite_stops_the_run_before_it_moves_anything():
    module = model()
    before = [p.clone() for p in module.parameters()]
    huge = torch.full((1, 8), 3e38)

    def loss_of(step, state):
        return (module[3](huge) * 1e3).sum(), None

    optimizer = optim.make("adamw", module[3], 0.1)
    with pytest.raises(Mistake, match="step 1 is infinite"):
        list(train(loss_of, optimizer, lambda s: 0.1, range(3), 0, most_norm=1.0))
    assert all(a.equal(b) for a, b in zip(module.parameters(), before, strict=True))


def test_slanted_triangular_rates_equal_the_papers_formula():
    n_steps, fraction, ratio = 1000, 0.1, 32
    cut = int(n_steps * fraction)
    for t in range(n_steps):
        p = t / cut if t < cut else 1 - (t - cut) / (cut * (1 / fraction - 1))
        assert slanted_triangular(t, n_steps) == pytest.approx((1 + p * (ratio - 1)) / ratio, abs=1e-12)
    assert slanted_triangular(cut, n_steps) == 1
    assert slanted_triangular(0, n_steps) == 1 / 32


def test_warm_up_rises_to_one_and_falls_to_nearly_nothing():
    rates = [warm_up_linear(step, 100, 0.1) for step in range(100)]
    assert max(rates) == rates[9] == 1.0
    assert rates == sorted(rates[:10]) + sorted(rates[10:], reverse=True)
    assert 0 < rates[-1] < 0.02


def test_a_loss_in_parts_is_their_sum():
    def in_parts(module, n):
        def loss_of(step, state):
            inputs = torch.randn(12, 4)
            return (module(part).square().sum() for part in inputs.chunk(n)), None

        return loss_of

    found = []
    for n in (1, 3):
        torch.manual_seed(0)
        module = nn.Linear(4, 2)
        optimizer = optim.make("adamw", module, 0.1)
        losses = [progress.loss for progress in train(in_parts(module, n), optimizer, lambda s: 0.1, range(3), seed=5)]
        found.append((losses, module.weight.detach().clone()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=0, atol=1e-5)
