import pytest
import torch
from torch import nn

from polyseme.errors import Mistake
from polyseme.layers.products import product


@pytest.mark.parametrize("n_rows", [1, 3, 64, 100])
@pytest.mark.parametrize("with_bias", [True, False])
def test_a_packed_product_is_the_plain_product(n_rows, with_bias):
    torch.manual_seed(0)
    linear, rows = nn.Linear(40, 96), torch.randn(n_rows, 40)
    bias = torch.randn(96) if with_bias else None
    wanted = product(linear)(rows, bias).detach()
    with torch.inference_mode():
        assert (product(linear)(rows, bias) - wanted).abs().max() < 1e-5


def test_eight_bits_are_near_the_plain_product():
    torch.manual_seed(0)
    linear, rows, bias = nn.Linear(256, 96), torch.randn(32, 256), torch.randn(96)
    with torch.inference_mode():
        wanted, found = product(linear)(rows, bias), product(linear, "int8")(rows, bias)
    assert 0 < (found - wanted).abs().max() < 0.05
    assert torch.cosine_similarity(found, wanted).min() > 0.999


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_changed_weight_is_used(precision):
    torch.manual_seed(0)
    linear, rows = nn.Linear(8, 8), torch.randn(4, 8)
    with torch.no_grad():
        before = product(linear, precision)(rows, None)
        linear.weight.neg_()
        assert (product(linear, precision)(rows, None) + before).abs().max() < 1e-2


def test_gradients_reach_the_weight_at_any_precision():
    linear = nn.Linear(8, 8)
    product(linear, "int8")(torch.ones(1, 8), None).sum().backward()
    assert torch.equal(linear.weight.grad, torch.ones(8, 8))


def test_double_precision_stays_double():
    linear, rows = nn.Linear(8, 8).double(), torch.randn(3, 8).double()
    with torch.no_grad():
        assert torch.equal(product(linear)(rows, None), rows @ linear.weight.T)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_what_is_prepared_in_inference_mode_serves_outside_of_it(precision):
    linear, rows = nn.Linear(8, 8), torch.randn(4, 8)
    with torch.inference_mode():
        inside = product(linear, precision)(rows, None)
    with torch.no_grad():
        assert torch.equal(product(linear, precision)(rows, None), inside)


def test_another_precision_is_refused():
    with pytest.raises(Mistake, match="'float32' or 'int8'"):
        product(nn.Linear(8, 8), "int4")
