"""The hand-written backward pass against autograd through a loop of cells, and against torch's own layer."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from polyseme.layers.unroll import Kind, unroll

SIZES = [[1], [3], [3, 2, 1], [4, 4, 4], [5, 5, 2, 2, 1, 1]]
CLIPS = [(float("inf"), float("inf")), (3.0, 3.0), (0.4, 0.3)]


def cell_loop(inputs, sizes, hidden, cell, weight_input, weight_hidden, bias, weight_projection, kind):
    outputs, hiddens, cells = [], [], []
    for rows in inputs.split(sizes):
        hiddens, cells = [*hidden[len(rows) :], *hiddens], [*cell[len(rows) :], *cells]  # of those that have ended
        gates = rows @ weight_input.T + hidden[: len(rows)] @ weight_hidden.T + bias
        i, f, o, g = gates.chunk(4, 1)
        cell = f.sigmoid() * cell[: len(rows)] + i.sigmoid() * g.tanh()
        cell = cell.clamp(-kind.cell_clip, kind.cell_clip)
        hidden = (o.sigmoid() * cell.tanh()) @ weight_projection.T
        hidden = hidden.clamp(-kind.projection_clip, kind.projection_clip)
        outputs.append(hidden)
    return torch.cat(outputs), torch.stack([*hidden, *hiddens]), torch.stack([*cell, *cells])


def arguments(sizes, width=4, units=5, input_width=6, scale=1.0):
    """All that unroll() takes, in double precision, but the kind."""
    torch.manual_seed(0)
    shapes = [(sum(sizes), input_width), (sizes[0], width), (sizes[0], units), (4 * units, input_width)]
    shapes += [(4 * units, width), (4 * units,), (width, units)]
    first, *others = [(torch.randn(*shape, dtype=torch.double) * scale).requires_grad_() for shape in shapes]
    return [first, sizes, *others]


def tensors(values):
    return [value for value in values if isinstance(value, torch.Tensor)]


def gradients(found, learned):
    """Of a sum of everything that was found, each with weights of its own."""
    torch.manual_seed(1)
    return torch.autograd.grad(sum((one * torch.randn_like(one)).sum() for one in found), learned)


@pytest.mark.parametrize("clips", CLIPS)
@pytest.mark.parametrize("sizes", [*SIZES, [3] * 7])
def test_outputs_states_and_all_gradients_equal_the_cell_loops(sizes, clips):
    values, kind = arguments(sizes), Kind("ifoj", *clips)
    found, wanted = unroll(*values, kind), cell_loop(*values, kind)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)
    for one, other in zip(gradients(found, tensors(values)), gradients(wanted, tensors(values)), strict=True):
        torch.testing.assert_close(one, other)


def test_the_clips_are_met_in_that_test():
    outputs, _, cell = unroll(*arguments([3] * 7), Kind("ifoj", 0.4, 0.3))
    assert (outputs.abs() == 0.3).any()
    assert (cell.abs() == 0.4).any()


@pytest.mark.parametrize("sizes", SIZES)
def test_without_a_projection_it_is_torchs_layer(sizes):
    torch.manual_seed(0)
    lstm = nn.LSTM(4, 6)
    inputs, hidden, cell = (torch.randn(n, width, requires_grad=True) for n, width in
                            ((sum(sizes), 4), (sizes[0], 6), (sizes[0], 6)))  # fmt: skip
    bias = lstm.bias_ih_l0 + lstm.bias_hh_l0
    found = unroll(inputs, sizes, hidden, cell, lstm.weight_ih_l0, lstm.weight_hh_l0, bias, None, Kind("ifjo"))
    packed, (last_hidden, last_cell) = lstm(PackedSequence(inputs, torch.tensor(sizes)), (hidden[None], cell[None]))
    wanted, learned = (packed.data, last_hidden[0], last_cell[0]), [inputs, hidden, cell, *lstm.parameters()]
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)
    for one, other in zip(gradients(found, learned), gradients(wanted, learned), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_numerical_gradients_agree():
    values = arguments([2, 2, 1], width=2, units=3, input_width=2, scale=0.5)
    kind = Kind("ifoj", 3.0, 3.0)
    assert torch.autograd.gradcheck(lambda first, *others: unroll(first, [2, 2, 1], *others, kind), tensors(values))


def test_two_windows_with_the_state_between_them_equal_one():
    inputs, sizes, hidden, cell, *weights = arguments([3] * 10)
    kind = Kind("ifoj", 3.0, 3.0)
    whole, _, _ = unroll(inputs, sizes, hidden, cell, *weights, kind)
    first, hidden, cell = unroll(inputs[:12], sizes[:4], hidden, cell, *weights, kind)
    second, _, _ = unroll(inputs[12:], sizes[4:], hidden, cell, *weights, kind)
    torch.testing.assert_close(torch.cat([first, second]), whole)


def test_nothing_it_was_given_is_changed():
    values = arguments([3, 2, 1])
    before = [tensor.detach().clone() for tensor in tensors(values)]
    outputs, *_ = unroll(*values, Kind("ifoj", 0.4, 0.3))
    outputs.sum().backward()
    for one, other in zip(tensors(values), before, strict=True):
        assert torch.equal(one.detach(), other)
