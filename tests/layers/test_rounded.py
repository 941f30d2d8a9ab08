import pytest
import torch
from torch import nn
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.layers.rounded import linear

needs_avx = pytest.mark.skipif(
    not torch.backends.cpu.get_cpu_capability().startswith("AVX"), reason="without AVX2 nothing is rounded"
)


def layer_of(n_in=96, n_out=40, bias=True):
    torch.manual_seed(0)
    return nn.Linear(n_in, n_out, bias=bias)


@pytest.mark.parametrize("n_in", [96, 97, 5, 1])
@pytest.mark.parametrize("bias", [True, False])
def test_rounded_products_are_near_plain_ones(n_in, bias):
    layer, rows = layer_of(n_in, bias=bias), torch.randn(33, n_in) * torch.logspace(-3, 3, 33).unsqueeze(1)
    with torch.inference_mode():
        found, wanted = linear(layer, rows, "int8"), linear(layer, rows)
    without = layer.bias if bias else 0
    errors = (found - wanted).norm(dim=1) / (wanted - without).norm(dim=1)
    assert errors.max() < 0.03


@pytest.mark.parametrize("bias", [True, False])
def test_a_least_number_that_is_known_gives_the_same_within_rounding(bias):
    layer, rows = layer_of(bias=bias), F.gelu(torch.randn(33, 96) * torch.logspace(-3, 2, 33).unsqueeze(1))
    with torch.inference_mode():
        found, wanted = linear(layer, rows, "int8", least=-0.171), linear(layer, rows)
    assert ((found - wanted).norm(dim=1) < 0.03 * (wanted.norm(dim=1) + 1)).all()


def test_rows_are_written_over_only_where_nobody_reads_them_afterwards():
    layer, rows = layer_of(), torch.randn(33, 96)
    with torch.inference_mode():
        before = rows.clone()
        wanted = linear(layer, rows, "int8")
        assert torch.equal(rows, before)
        assert torch.equal(linear(layer, rows, "int8", spent=True), wanted)


def test_a_row_whose_numbers_are_all_alike():
    layer, rows = layer_of(), torch.tensor([[0.0], [5.0], [-3e4], [1e-30]]).repeat(1, 96)
    with torch.inference_mode():
        found, wanted = linear(layer, rows, "int8"), linear(layer, rows)
    assert ((found - wanted).norm(dim=1) <= 0.01 * wanted.norm(dim=1)).all()


@pytest.mark.parametrize("away", [0, 0.5, -0.5, 40, -1000])
def test_rows_far_from_zero_keep_what_sets_their_numbers_apart(away):
    layer, rows = layer_of(), torch.randn(500, 96)
    with torch.inference_mode():
        found, wanted = linear(layer, rows + away, "int8"), linear(layer, rows + away)
        flat = linear(layer, torch.full((1, 96), float(away)), "int8") - linear(layer, torch.full((1, 96), float(away)))
    assert ((found - flat - wanted).norm(dim=1) < 0.03 * wanted.norm(dim=1).clamp(min=3)).all()


@needs_avx
def test_rounding_is_used():
    layer, rows = layer_of(), torch.randn(9, 96)
    with torch.inference_mode():
        assert not torch.equal(linear(layer, rows, "int8"), layer(rows))


@needs_avx
def test_a_rows_result_depends_on_no_other_row():
    layer, rows = layer_of(), torch.randn(300, 96)
    rows[7] *= 1000
    with torch.inference_mode():
        whole = linear(layer, rows, "int8")
        assert torch.equal(linear(layer, rows[:5], "int8"), whole[:5])
        assert torch.equal(linear(layer, rows[200:201], "int8"), whole[200:201])


def test_sums_of_bytes_never_overflow():
    layer = layer_of(64, 8, bias=False)
    with torch.inference_mode(False), torch.no_grad():
        layer.weight.copy_(torch.ones(8, 64))  # the largest weights beside each other
        layer.weight[:, ::2] -= 0.01
    rows = torch.ones(4, 64)
    rows[:, 5] = 0  # so that all others are at the top level
    with torch.inference_mode():
        assert (linear(layer, rows, "int8") - layer(rows)).abs().max() < 0.5


def test_a_row_of_one_value_and_no_rows_are_fine():
    layer = layer_of()
    with torch.inference_mode():
        flat = torch.full((2, 96), 0.3)
        assert torch.allclose(linear(layer, flat, "int8"), layer(flat), atol=0.01)
        assert linear(layer, torch.zeros(0, 96), "int8").shape == (0, 40)


def test_a_changed_weight_is_used():
    layer, rows = layer_of(bias=False), torch.randn(3, 96)
    with torch.no_grad():
        before = linear(layer, rows, "int8")
        layer.weight.neg_()
        assert (linear(layer, rows, "int8") + before).abs().max() < 0.05


def test_gradients_reach_the_weight_at_any_precision():
    layer = layer_of()
    linear(layer, torch.randn(3, 96), "int8").sum().backward()
    assert layer.weight.grad is not None


def test_double_precision_stays_double():
    layer, rows = layer_of().double(), torch.randn(3, 96).double()
    with torch.inference_mode():
        assert torch.equal(linear(layer, rows, "int8"), F.linear(rows, layer.weight, layer.bias))


def test_another_precision_is_refused():
    with pytest.raises(Mistake, match="'int4' is not known"):
        linear(layer_of(), torch.randn(3, 96), "int4")
