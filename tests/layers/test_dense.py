"""Products by either library: the same numbers and the same gradients."""

import pytest
import torch
from torch.nn import functional as F

from polyseme.layers import dense
from polyseme.layers.dense import times
from polyseme.layers.softmax import full_loss, sampled_loss

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN")


@pytest.fixture
def onednn(monkeypatch):
    monkeypatch.setattr(dense, "onednn_is_faster", lambda: True)


@pytest.mark.parametrize("has_bias", [True, False])
def test_both_libraries_give_the_same_and_the_same_gradients(onednn, has_bias):
    torch.manual_seed(0)
    shapes = [(37, 96), (80, 96), (80,)][: 3 if has_bias else 2]
    one = [torch.randn(shape, requires_grad=True) for shape in shapes]
    other = [tensor.detach().clone().requires_grad_() for tensor in one]
    found, wanted = times(*one), F.linear(*other)
    assert torch.allclose(found, wanted, atol=1e-4)
    for output in (found, wanted):
        output.t()[:, ::2].square().sum().backward()  # gradients that come in another order
    for ours, theirs in zip(one, other, strict=True):
        assert torch.allclose(ours.grad, theirs.grad, rtol=1e-4, atol=1e-3)
    with torch.inference_mode():
        assert torch.allclose(times(*one), wanted, atol=1e-4)


def test_what_comes_out_may_be_changed_in_place(onednn):
    rows, weight = torch.randn(70, 64), torch.randn(64, 64, requires_grad=True)
    times(rows, weight).add_(rows).square().sum().backward()
    other = weight.detach().clone().requires_grad_()
    (F.linear(rows, other) + rows).square().sum().backward()
    assert torch.allclose(weight.grad, other.grad, rtol=1e-3, atol=1e-2)


def test_only_what_is_asked_for_has_a_gradient(onednn):
    rows, weight = torch.randn(5, 64), torch.randn(64, 64, requires_grad=True)
    times(rows, weight).sum().backward()
    assert rows.grad is None
    assert torch.allclose(weight.grad, rows.sum(0).expand(64, 64), atol=1e-5)


def test_what_onednn_has_no_product_for_goes_the_usual_way(onednn):
    for rows, weight in (
        (torch.randn(3, 64).double(), torch.randn(64, 64).double()),
        (torch.randn(3, 2), torch.randn(2, 2)),
        (torch.zeros(0, 64), torch.randn(64, 64)),
    ):
        assert torch.equal(times(rows, weight), F.linear(rows, weight))


@pytest.mark.parametrize("loss", [full_loss, lambda *given: sampled_loss(*given, n_samples=100)])
def test_losses_are_the_same_by_either(monkeypatch, loss):
    found = []
    for is_faster in (True, False):
        monkeypatch.setattr(dense, "onednn_is_faster", lambda is_faster=is_faster: is_faster)
        torch.manual_seed(0)
        given = [torch.randn(300, 64, requires_grad=True), torch.randn(200, 64, requires_grad=True)]
        given.append(torch.randn(200, requires_grad=True))
        value = loss(*given, torch.randint(0, 200, (300,)))
        value.backward()
        found.append([value, *(tensor.grad for tensor in given)])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-5)


def test_which_is_faster_is_asked_of_the_processor(monkeypatch):
    for capability, vendor, wanted in (
        ("AVX512", "vendor_id : AuthenticAMD", True),
        ("AVX512", "vendor_id : GenuineIntel", False),
        ("AVX2", "vendor_id : AuthenticAMD", False),
    ):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda capability=capability: capability)
        monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
        monkeypatch.setattr(dense, "_vendor", lambda vendor=vendor: vendor)
        assert dense.onednn_is_faster.__wrapped__() == wanted


def test_a_bias_may_be_any_view(onednn):
    rows, weight, bias = torch.randn(5, 64), torch.randn(96, 64), torch.randn(192)[::2]
    assert torch.allclose(times(rows, weight, bias), F.linear(rows, weight, bias), atol=1e-4)
