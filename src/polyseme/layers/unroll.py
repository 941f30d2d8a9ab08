"""Rows of equal length through a projected, clipped LSTM, with the backward pass written by hand.

Autograd through a loop of cells adds to every weight's gradient at every step. Here the loop carries only what one
step needs from its neighbour; all weight gradients are single products over the whole window afterwards. tanh(x) is
2 * sigmoid(2x) - 1 throughout: torch's tanh takes four times as long as its sigmoid.
"""

from typing import Any

import torch
from torch import Tensor

from polyseme.layers.products import packed_for


def unroll(
    inputs: Tensor,  # (steps, rows, input_width)
    hidden: Tensor,  # (rows, width), the state before the first step
    cell: Tensor,  # (rows, units)
    weight_input: Tensor,  # (4 * units, input_width), gates: input, forget, output, candidate
    weight_hidden: Tensor,  # (4 * units, width)
    bias: Tensor,  # (4 * units,)
    weight_projection: Tensor,  # (width, units)
    cell_clip: float | None,
    projection_clip: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs (steps, rows, width) and the state after the last step, which carries no gradient on."""
    clips = (cell_clip or float("inf"), projection_clip or float("inf"))
    outputs, last_cell = _Unroll.apply(  # type: ignore[no-untyped-call]
        inputs, hidden, cell, weight_input, weight_hidden, bias, weight_projection, *clips
    )
    return outputs, outputs[-1].detach(), last_cell


class _Unroll(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        hidden: Tensor,
        cell: Tensor,
        weight_input: Tensor,
        weight_hidden: Tensor,
        bias: Tensor,
        weight_projection: Tensor,
        cell_clip: float,
        projection_clip: float,
    ) -> tuple[Tensor, Tensor]:
        steps, rows, _ = inputs.shape
        gates = torch.addmm(bias, inputs.flatten(0, 1), weight_input.t()).view(steps, rows, -1)
        units = gates.shape[-1] // 4
        cells = inputs.new_empty(steps, rows, units)
        squashed = inputs.new_empty(steps, rows, units)  # tanh(cell), then times the output gate
        before = inputs.new_empty(steps, rows, units)
        outputs = inputs.new_empty(steps, rows, weight_projection.shape[0])
        recurrent, projection = packed_for(weight_hidden), packed_for(weight_projection)
        previous, memory = hidden, cell
        for step in range(steps):
            gate = gates[step].add_(recurrent(previous))
            take_in, forget, let_out, candidate = torch.split(gate, units, 1)
            candidate.mul_(2)
            gate.sigmoid_()
            candidate.mul_(2).sub_(1)
            torch.mul(forget, memory, out=cells[step])
            memory = cells[step].addcmul_(take_in, candidate).clamp_(-cell_clip, cell_clip)
            torch.mul(memory, 2, out=squashed[step]).sigmoid_().mul_(2).sub_(1)
            torch.mul(let_out, squashed[step], out=before[step])
            torch.clamp(projection(before[step]), -projection_clip, projection_clip, out=outputs[step])
            previous = outputs[step]
        ctx.save_for_backward(
            inputs,
            hidden,
            cell,
            weight_input,
            weight_hidden,
            weight_projection,
            gates,
            cells,
            squashed,
            before,
            outputs,
        )
        ctx.clips = (cell_clip, projection_clip)
        last = memory.clone()
        ctx.mark_non_differentiable(last)
        return outputs, last

    @staticmethod
    def backward(ctx: Any, grad_outputs: Tensor, _: Tensor) -> Any:
        (
            inputs, hidden, cell, weight_input, weight_hidden, weight_projection,
            gates, cells, squashed, before, outputs,
        ) = ctx.saved_tensors  # fmt: skip
        cell_clip, projection_clip = ctx.clips
        units = cells.shape[2]
        take_in, forget, let_out, candidate = torch.split(gates, units, 2)  # each (steps, rows, units)
        memory = torch.cat([cell.unsqueeze(0), cells[:-1]])
        # what each gate's sum does to the cell, or for the output gate to what is projected, at all steps at once
        slopes = torch.empty_like(gates)
        into = torch.split(slopes, units, 2)
        torch.mul(candidate * take_in, 1 - take_in, out=into[0])
        torch.mul(memory * forget, 1 - forget, out=into[1])
        torch.mul(squashed * let_out, 1 - let_out, out=into[2])
        torch.mul(take_in, 1 - candidate.square(), out=into[3])
        through_cell = let_out * (1 - squashed.square())
        cell_free, output_free = (
            cells.abs() < cell_clip,
            outputs.abs() < projection_clip,
        )  # where a clip held, nothing flows
        grad_projected = grad_outputs.clone()
        grad_hidden, grad_cell = torch.zeros_like(hidden), torch.zeros_like(cell)
        backwards, projected = packed_for(weight_hidden.t()), packed_for(weight_projection.t())
        for step in reversed(range(len(cells))):
            grad_projected[step].add_(grad_hidden).mul_(output_free[step])
            grad_before = projected(grad_projected[step])
            grad_cell.addcmul_(grad_before, through_cell[step]).mul_(cell_free[step])
            gate = slopes[step].view(-1, 4, units)
            gate[:, :2].mul_(grad_cell.unsqueeze(1))
            gate[:, 2].mul_(grad_before)
            gate[:, 3].mul_(grad_cell)
            grad_hidden = backwards(slopes[step])
            grad_cell.mul_(forget[step])
        flat = slopes.flatten(0, 1)  # (steps * rows, 4 * units), now the gradients of the gates' sums
        previous = torch.cat([hidden.unsqueeze(0), outputs[:-1]])  # (steps, rows, width), what each step was given
        grad_weights = flat.t() @ torch.cat([inputs, previous], 2).flatten(0, 1)  # one product for both matrices
        return (
            (flat @ weight_input).view_as(inputs) if ctx.needs_input_grad[0] else None,
            grad_hidden,
            grad_cell,
            grad_weights[:, : inputs.shape[2]],
            grad_weights[:, inputs.shape[2] :],
            flat.sum(0),
            grad_projected.flatten(0, 1).t() @ before.flatten(0, 1),
            None,
            None,
        )
