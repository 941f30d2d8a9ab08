"""NT-ASGD: SGD, then torch's ASGD, and a trigger that is part of what is resumed."""

import pytest
import torch
from torch import nn

from polyseme.train import optim
from polyseme.train.average import averaged
from polyseme.train.loop import train
from polyseme.train.nt_asgd import NtAsgd, triggered


def model(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).double()


def learn(module, optimizer, steps, rate=0.125):  # in float32 exact, as torch keeps it
    def loss_of(step, state):
        return module(torch.randn(16, 4, dtype=torch.double)).square().mean(), None

    list(train(loss_of, optimizer, lambda step: rate, steps, seed=3))


def trigger(optimizer):
    for loss in [3, 2, 4, 4, 4, 4, 4]:
        optimizer.hear(loss)


def test_before_the_trigger_it_is_sgd():
    ours, theirs = model(), model()
    learn(ours, NtAsgd([{"params": list(ours.parameters()), "weight_decay": 0.01}], 0.125), range(5))
    learn(theirs, torch.optim.SGD(theirs.parameters(), lr=0.125, weight_decay=0.01), range(5))
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-15)


def test_behind_the_trigger_it_is_torchs_asgd():
    ours, theirs = model(), model()
    own = NtAsgd([{"params": list(ours.parameters()), "weight_decay": 0.01}], 0.125)
    trigger(own)
    other = torch.optim.ASGD(theirs.parameters(), lr=0.125, t0=0, lambd=0.0, weight_decay=0.01)
    for step in range(6):
        learn(ours, own, range(step, step + 1))
        learn(theirs, other, range(step, step + 1))
        for one, two in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(one, two, rtol=0, atol=1e-15)
            torch.testing.assert_close(own.state[one]["mean"], other.state[two]["ax"], rtol=0, atol=1e-9)  # float32 1/n


def test_the_rate_is_that_of_the_step_itself():
    module = nn.Linear(1, 1, bias=False)
    optimizer = NtAsgd([{"params": list(module.parameters())}], 1.0)
    trigger(optimizer)
    before = module.weight.item()
    for rate in (0.5, 0.25):
        module.weight.grad = torch.ones(1, 1)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    assert module.weight.item() == pytest.approx(before - 0.75)


def test_the_trigger_is_algorithm_1_of_the_paper():
    losses, patience, logs, switched = [9, 8, 7, 6, 6.5, 6.4, 6.3, 6.2, 6.1, 6.05, 5], 5, [], None
    for number, loss in enumerate(losses):
        if switched is None and len(logs) > patience and loss > min(logs[: len(logs) - patience]):
            switched = number
        logs.append(loss)
    assert switched == 9  # 6.05 is worse than 6, six evaluations before
    assert [triggered(losses[: n + 1], patience) for n in range(10)] == [False] * 9 + [True]
    assert not triggered([5, 4, 3, 2, 1, 0, -1, -2], patience)


def test_the_means_stand_in_for_the_weights_inside_the_block_only():
    module = model()
    optimizer = NtAsgd([{"params": list(module.parameters())}], 0.1)
    learn(module, optimizer, range(2))
    weight = module[0].weight
    with averaged(optimizer):
        assert weight.equal(module[0].weight)  # nothing to average yet
    trigger(optimizer)
    learn(module, optimizer, range(2, 6))
    before, mean = weight.detach().clone(), optimizer.state[weight]["mean"].clone()
    with averaged(optimizer):
        assert weight.equal(mean)
    assert weight.equal(before)
    assert not before.equal(mean)


@pytest.mark.parametrize("n_heard", [0, 3, 7])
def test_trigger_and_means_survive_a_stop(n_heard):
    def hear(optimizer, losses):
        for loss in losses:
            optimizer.hear(loss)

    losses = [3.1, 2.2, 4, 4, 4, 4, 4]
    whole = model()
    optimizer = NtAsgd([{"params": list(whole.parameters())}], 0.1)
    hear(optimizer, losses[:n_heard])
    learn(whole, optimizer, range(3))
    saved = {name: tensor.clone() for name, tensor in whole.state_dict().items()}
    slots = {name: tensor.clone() for name, tensor in optim.state_tensors(optimizer).items()}
    hear(optimizer, losses[n_heard:])
    learn(whole, optimizer, range(3, 6))

    second = model(seed=9)
    second.load_state_dict(saved)
    again = NtAsgd([{"params": list(second.parameters())}], 0.1)
    optim.load_state_tensors(again, slots)
    assert again.losses == losses[:n_heard]
    hear(again, losses[n_heard:])
    learn(second, again, range(3, 6))
    for one, other in zip(second.parameters(), whole.parameters(), strict=True):
        assert one.equal(other)
        assert again.state[one]["mean"].equal(optimizer.state[other]["mean"])
