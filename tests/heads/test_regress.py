import pytest
import torch

from polyseme.errors import Mistake
from polyseme.heads.regress import Regress


@pytest.mark.parametrize("scale, shift", [(1.0, 0.0), (1e4, 1e6), (1e-3, 5.0)])
def test_any_scale_of_targets_is_learned_at_the_same_rate(scale, shift, features, learn):
    torch.manual_seed(0)
    made = features(torch.randn(30, 4), [2] * 10 + [1] * 10)
    targets = made.texts[:, 0].double() * scale + shift
    head = Regress(4, dropout=0.0)
    head.standardise(targets)
    losses = learn(head, made, targets, 100, 0.3)
    assert losses[0] > 0.5
    assert losses[-1] < 1e-3
    assert torch.allclose(head.decode(head(made), made.offsets).double(), targets, atol=0.2 * scale, rtol=1e-6)


@torch.no_grad()
def test_packing_does_not_change_numbers(features, alone):
    made, head = features(torch.randn(6, 4), [1, 3, 2]), Regress(4).eval()
    assert torch.allclose(head(made), torch.cat([head(one) for one in alone(made)]), atol=1e-6)


def test_the_scale_is_saved_with_the_weights():
    head, other = Regress(4), Regress(4)
    head.standardise(torch.tensor([1.0, 3.0]))
    other.load_state_dict(head.state_dict())
    assert other.decode(torch.tensor([0.0, 1.0]), torch.tensor([0, 1, 2])).tolist() == [2.0, 3.0]


def test_constant_targets_are_no_division_by_zero():
    head = Regress(4)
    head.standardise(torch.full((3,), 0.1))
    assert head.loss(torch.zeros(3), torch.full((3,), 0.1), torch.arange(4)).item() == pytest.approx(0)


def test_gradients_flow(features):
    made, head = features(torch.randn(6, 4).requires_grad_(), [1, 3, 2]), Regress(4, "bilstm")
    head.loss(head(made), torch.tensor([1.0, 2.0, 3.0]), made.offsets).backward()
    assert made.words.grad.abs().sum() > 0
    assert all(parameter.grad.abs().sum() > 0 for parameter in head.parameters())


@pytest.mark.parametrize("targets", [[], [1.0, float("nan")]])
def test_targets_that_are_no_numbers_are_refused(targets):
    with pytest.raises(Mistake, match="finite numbers"):
        Regress(4).standardise(torch.tensor(targets))
