import copy
import gc

import pytest
import torch
from torch import nn

from polyseme.layers import prepared as prepared_module
from polyseme.layers.prepared import _kept, can_prepare, prepared, unchanged


def current(linear):
    """The weights as whoever prepares something from them sees them."""
    return prepared(linear, "copy", lambda: linear.weight.detach().clone())


def in_place(linear):
    with torch.no_grad():
        linear.weight.add_(1)


def in_inference_mode(linear):
    with torch.inference_mode():
        linear.weight.mul_(2)


def by_state(linear):
    linear.load_state_dict({"weight": torch.randn(3, 2), "bias": torch.randn(3)})


def by_assigning_state(linear):
    linear.load_state_dict({"weight": torch.randn(3, 2), "bias": torch.randn(3)}, assign=True)


def new_parameter(linear):
    linear.weight = nn.Parameter(torch.randn(3, 2))


def new_data(linear):
    linear.weight.data = torch.randn(3, 2)


def same_memory_other_parameter(linear):
    linear.weight = nn.Parameter(linear.weight.data)
    with torch.no_grad():
        for _ in range(3):
            linear.weight.add_(1)


def optimizer(make):
    def change(linear):
        linear(torch.ones(1, 2)).sum().backward()
        make(linear.parameters()).step()

    return change


CHANGES = [
    in_place,
    in_inference_mode,
    by_state,
    by_assigning_state,
    new_parameter,
    new_data,
    same_memory_other_parameter,
    optimizer(lambda p: torch.optim.SGD(p, 0.1)),
    optimizer(lambda p: torch.optim.SGD(p, 0.1, foreach=True)),
    optimizer(lambda p: torch.optim.AdamW(p, 0.1)),
    optimizer(lambda p: torch.optim.AdamW(p, 0.1, fused=True)),
    optimizer(lambda p: torch.optim.Adagrad(p, 0.1)),
    optimizer(lambda p: torch.optim.Adagrad(p, 0.1, fused=True)),
    lambda linear: nn.utils.vector_to_parameters(torch.randn(9), linear.parameters()),
    lambda linear: linear.double(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_parameters_is_seen(change):
    linear = nn.Linear(2, 3)
    same_memory_other_parameter(linear)
    assert torch.equal(current(linear), linear.weight)
    for _ in range(2):
        before = linear.weight.detach().clone()
        change(linear)
        assert linear.weight.dtype != before.dtype or not torch.equal(linear.weight, before)
        assert torch.equal(current(linear), linear.weight)
        if linear.weight.dtype == torch.float64:
            break


def test_it_is_made_once_while_nothing_changes():
    linear = nn.Linear(2, 3)
    assert current(linear) is current(linear)
    assert prepared(linear, "other", lambda: "other") == "other"


def test_a_copy_has_its_own_and_a_module_that_is_gone_keeps_nothing():
    linear = nn.Linear(2, 3)
    first = current(linear)
    other = copy.deepcopy(linear)
    in_place(other)
    assert torch.equal(current(other), first + 1)
    gc.collect()
    n_kept = len(_kept)
    del linear, other
    gc.collect()
    assert len(_kept) == n_kept - 2


def test_nothing_is_prepared_where_gradients_are_wanted_or_changes_cannot_be_seen():
    linear = nn.Linear(2, 3)
    assert not can_prepare(linear)
    with torch.no_grad():
        assert can_prepare(linear)
    with torch.inference_mode():
        assert can_prepare(linear)
        assert not can_prepare(nn.Linear(2, 3))  # such tensors have no version


def test_where_nothing_changes_parameters_are_looked_at_once(monkeypatch):
    layer, looks = nn.Linear(2, 2), []
    monkeypatch.setattr(
        prepared_module._Stamp, "of", lambda tensor, of=prepared_module._Stamp.of: looks.append(1) or of(tensor)
    )
    with torch.inference_mode(), unchanged({}):
        assert prepared(layer, "one", lambda: 1) == prepared(layer, "one", lambda: 2) == 1
        assert len(looks) == 2  # the weight and the bias
    layer.weight.data.add_(1)
    with torch.inference_mode():
        assert prepared(layer, "one", lambda: 2) == 2
        with unchanged({}):
            assert prepared(layer, "one", lambda: 3) == 2
