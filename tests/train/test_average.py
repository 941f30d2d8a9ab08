"""Means of weights over steps, in the memory of any optimiser."""

import pytest
import torch
from torch import nn

from polyseme.train import optim
from polyseme.train.average import add_to_means, averaged, put_means


def learned(optimizer, module, n_steps):
    """The weights after each step, all of which are added."""
    seen = []
    for _ in range(n_steps):
        module(torch.ones(1, 3)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        add_to_means(optimizer)
        seen.append(module.weight.detach().clone())
    return seen


@pytest.mark.parametrize("name", ["adamw", "adagrad"])
def test_inside_the_block_weights_are_the_mean_of_those_added(name):
    module = nn.Linear(3, 2)
    optimizer = optim.make(name, module, rate=0.1)
    seen = learned(optimizer, module, 7)
    with averaged(optimizer):
        torch.testing.assert_close(module.weight.detach(), torch.stack(seen).mean(0))
    assert torch.equal(module.weight, seen[-1])
    put_means(optimizer)
    torch.testing.assert_close(module.weight.detach(), torch.stack(seen).mean(0))


def test_where_none_were_added_weights_stay_as_they_are():
    module = nn.Linear(3, 2)
    optimizer = optim.make("adamw", module, rate=0.1)
    before = module.weight.detach().clone()
    with averaged(optimizer):
        assert torch.equal(module.weight, before)
    put_means(optimizer)
    assert torch.equal(module.weight, before)


def test_means_go_with_the_optimisers_memory():
    module, other = nn.Linear(3, 2), nn.Linear(3, 2)
    other.load_state_dict(module.state_dict())
    optimizer, again = (optim.make("adamw", one, rate=0.1) for one in (module, other))
    learned(optimizer, module, 3)
    other.load_state_dict(module.state_dict())
    optim.load_state_tensors(again, {name: part.clone() for name, part in optim.state_tensors(optimizer).items()})
    learned(optimizer, module, 4)
    learned(again, other, 4)
    put_means(optimizer)
    put_means(again)
    assert torch.equal(module.weight, other.weight)
