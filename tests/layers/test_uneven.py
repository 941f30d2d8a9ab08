import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from polyseme.layers.uneven import uneven_lstm

SIZES = [[1], [3], [3, 2, 1], [4, 4, 4], [5, 5, 2, 2, 1, 1]]


def case(sizes, dtype=torch.float32):
    """torch's own layer, and a batch for it; everything asks for gradients."""
    torch.manual_seed(0)
    lstm = nn.LSTM(4, 6).to(dtype)
    inputs, hidden, cell = torch.randn(sum(sizes), 4), torch.randn(sizes[0], 6), torch.randn(sizes[0], 6)
    return lstm, [tensor.to(dtype).requires_grad_() for tensor in (inputs, hidden, cell)]


def ours(lstm, sizes, inputs, hidden, cell):
    bias = lstm.bias_ih_l0 + lstm.bias_hh_l0
    return uneven_lstm(inputs, sizes, hidden, cell, lstm.weight_ih_l0, lstm.weight_hh_l0, bias)


def theirs(lstm, sizes, inputs, hidden, cell):
    packed, (hidden, cell) = lstm(PackedSequence(inputs, torch.tensor(sizes)), (hidden[None], cell[None]))
    return packed.data, hidden[0], cell[0]


@pytest.mark.parametrize("sizes", SIZES)
def test_outputs_states_and_gradients_are_torchs(sizes):
    lstm, tensors = case(sizes)
    learned = [*tensors, *lstm.parameters()]
    found, wanted = ours(lstm, sizes, *tensors), theirs(lstm, sizes, *tensors)
    weights = [torch.randn_like(one) for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    grads = [
        torch.autograd.grad(sum((one * weight).sum() for one, weight in zip(all_of, weights, strict=True)), learned)
        for all_of in (found, wanted)
    ]
    for one, other in zip(*grads, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_gradients_are_the_differences_quotients():
    lstm, tensors = case([3, 2, 2, 1], torch.float64)
    assert torch.autograd.gradcheck(lambda *given: ours(lstm, [3, 2, 2, 1], *given), tensors)


def test_states_alone_carry_gradients_too():
    lstm, tensors = case([2, 1])
    _, hidden, cell = ours(lstm, [2, 1], *tensors)
    (grad,) = torch.autograd.grad(cell.sum() + hidden.sum(), tensors[:1])
    _, hidden, cell = theirs(lstm, [2, 1], *tensors)
    assert torch.allclose(grad, torch.autograd.grad(cell.sum() + hidden.sum(), tensors[:1])[0], atol=1e-6)


def test_nothing_it_was_given_is_changed():
    lstm, tensors = case([3, 2, 1])
    before = [tensor.detach().clone() for tensor in (*tensors, *lstm.parameters())]
    outputs, *_ = ours(lstm, [3, 2, 1], *tensors)
    outputs.sum().backward()
    for one, other in zip((*tensors, *lstm.parameters()), before, strict=True):
        assert torch.equal(one.detach(), other)
