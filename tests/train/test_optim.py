"""Optimisers: the papers' arithmetic, groups, and their memory as tensors."""

import pytest
import torch
from torch import nn

from polyseme.errors import BadFile
from polyseme.train import optim


def stepped(name: str, gradients: list[float], rate: float = 0.2, **settings) -> float:
    """How far a single weight has moved."""
    module = nn.Linear(1, 1, bias=False).double()
    optimizer = optim.make(name, module, rate, **settings)
    before = module.weight.item()
    for gradient in gradients:
        module.weight.grad = torch.full((1, 1), gradient, dtype=torch.double)
        optimizer.step()
    return before - module.weight.item()


def test_adagrad_begins_with_a_sum_of_one_as_the_released_elmo_did():
    assert stepped("adagrad", [3.0]) == pytest.approx(0.2 * 3 / 10**0.5)
    assert stepped("adagrad", [3.0, 2.0]) == pytest.approx(0.2 * (3 / 10**0.5 + 2 / 14**0.5))


def test_adamw_takes_its_betas():
    assert stepped("adamw", [3.0, 0.0], 0.1, betas=(0.0, 0.99)) == pytest.approx(0.1, rel=1e-6)


def test_parts_learn_at_rates_of_their_own_and_each_parameter_once():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.LayerNorm(2))
    groups = optim.rate_groups(module, 0.01, [(module[0], 0.5)])
    factors = {id(p): (group["factor"], group["weight_decay"]) for group in groups for p in group["params"]}
    assert sum(len(group["params"]) for group in groups) == len(factors) == 6
    assert factors[id(module[0].weight)] == (0.5, 0.01)
    assert factors[id(module[0].bias)] == (0.5, 0.0)
    assert factors[id(module[1].weight)] == (1.0, 0.01)
    assert factors[id(module[2].weight)] == (1.0, 0.0)


def test_the_memory_of_another_model_is_refused():
    one, other = nn.Linear(2, 2), nn.Linear(2, 2, bias=False)
    optimizer = optim.make("adagrad", one, 0.1)
    with pytest.raises(BadFile, match="names 2 parameters; the model has 1"):
        optim.load_state_tensors(optim.make("adagrad", other, 0.1), optim.state_tensors(optimizer))
