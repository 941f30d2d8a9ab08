"""The hand-written backward pass against autograd through a loop of cells."""

import pytest
import torch

from polyseme.layers.unroll import unroll


def cell_loop(inputs, hidden, cell, weight_input, weight_hidden, bias, weight_projection, cell_clip, projection_clip):
    outputs = []
    for x in inputs:
        gates = x @ weight_input.T + hidden @ weight_hidden.T + bias
        i, f, o, g = gates.chunk(4, 1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        cell = cell.clamp(-cell_clip, cell_clip) if cell_clip else cell
        hidden = (o.sigmoid() * cell.tanh()) @ weight_projection.T
        hidden = hidden.clamp(-projection_clip, projection_clip) if projection_clip else hidden
        outputs.append(hidden)
    return torch.stack(outputs), hidden, cell


def arguments(steps=7, rows=3, width=4, units=5, input_width=6, scale=1.0):
    torch.manual_seed(0)
    shapes = [(steps, rows, input_width), (rows, width), (rows, units), (4 * units, input_width), (4 * units, width)]
    shapes += [(4 * units,), (width, units)]
    return [(torch.randn(*shape, dtype=torch.double) * scale).requires_grad_() for shape in shapes]


@pytest.mark.parametrize("clips", [(None, None), (3.0, 3.0), (0.4, 0.3)])
def test_outputs_and_all_gradients_equal_the_cell_loops(clips):
    values = arguments()
    found, hidden, cell = unroll(*values, *clips)
    weights = torch.randn_like(found)
    gradients = torch.autograd.grad((found * weights).sum(), values)
    wanted, wanted_hidden, wanted_cell = cell_loop(*values, *clips)
    wanted_gradients = torch.autograd.grad((wanted * weights).sum(), values)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(hidden, wanted_hidden.detach())
    torch.testing.assert_close(cell, wanted_cell.detach())
    for one, other in zip(gradients, wanted_gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_the_clips_are_met_in_that_test():
    outputs, _, cell = unroll(*arguments(), 0.4, 0.3)
    assert (outputs.abs() == 0.3).any()
    assert (cell.abs() == 0.4).any()


def test_numerical_gradients_agree():
    values = arguments(steps=3, rows=2, width=2, units=3, input_width=2, scale=0.5)
    assert torch.autograd.gradcheck(lambda *args: unroll(*args, 3.0, 3.0)[0], values)


def test_two_windows_with_the_state_between_them_equal_one():
    values = [value.detach() for value in arguments(steps=10)]
    whole, _, _ = unroll(*values, 3.0, 3.0)
    first, hidden, cell = unroll(values[0][:4], *values[1:], 3.0, 3.0)
    second, _, _ = unroll(values[0][4:], hidden, cell, *values[3:], 3.0, 3.0)
    torch.testing.assert_close(torch.cat([first, second]), whole)
