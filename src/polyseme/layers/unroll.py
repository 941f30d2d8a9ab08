"""Rows of equal length through a projected, clipped LSTM, with the backward pass written by hand.

Autograd through a loop of cells adds to every weight's gradient at every step. Here the loop carries only what one
step needs from its neighbour; all weight gradients are single products over the whole window afterwards.
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
        recurrent, projection = packed_for(weight_hidden), weight_projection.t()
        previous, memory = hidden, cell
        for step in range(steps):
            gate = gates[step].add_(recurrent(previous))
            gate[:, : 3 * units].sigmoid_()
            gate[:, 3 * units :].tanh_()
            take_in, forget, let_out, candidate = torch.split(gate, units, 1)
            torch.mul(forget, memory, out=cells[step])
            memory = cells[step].addcmul_(take_in, candidate).clamp_(-cell_clip, cell_clip)
            torch.tanh(memory, out=squashed[step])
            torch.mul(let_out, squashed[step], out=before[step])
            previous = torch.mm(before[step], projection, out=outputs[step]).clamp_(-projection_clip, projection_clip)
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
        steps, _, units = cells.shape
        grad_gates = torch.empty_like(gates)
        grad_projected = torch.empty_like(outputs)
        grad_hidden, grad_cell = torch.zeros_like(hidden), torch.zeros_like(cell)
        backwards = packed_for(weight_hidden.t())
        for step in reversed(range(steps)):
            take_in, forget, let_out, candidate = torch.split(gates[step], units, 1)
            grad_projected[step] = grad_outputs[step] + grad_hidden
            if projection_clip != float("inf"):
                grad_projected[step] *= outputs[step].abs() < projection_clip  # where the clip held, nothing flows
            grad_before = grad_projected[step] @ weight_projection
            grad_cell += grad_before * let_out * (1 - squashed[step].square())
            if cell_clip != float("inf"):
                grad_cell *= cells[step].abs() < cell_clip
            memory = cells[step - 1] if step else cell
            into = torch.split(grad_gates[step], units, 1)
            torch.mul(grad_cell * candidate, take_in * (1 - take_in), out=into[0])
            torch.mul(grad_cell * memory, forget * (1 - forget), out=into[1])
            torch.mul(grad_before * squashed[step], let_out * (1 - let_out), out=into[2])
            torch.mul(grad_cell * take_in, 1 - candidate.square(), out=into[3])
            grad_hidden = backwards(grad_gates[step])
            grad_cell *= forget
        flat = grad_gates.flatten(0, 1)  # (steps * rows, 4 * units)
        recurrent_inputs = torch.cat([hidden.unsqueeze(0), outputs[:-1]]).flatten(0, 1)
        return (
            (flat @ weight_input).view_as(inputs) if ctx.needs_input_grad[0] else None,
            grad_hidden,
            grad_cell,
            flat.t() @ inputs.flatten(0, 1),
            flat.t() @ recurrent_inputs,
            flat.sum(0),
            grad_projected.flatten(0, 1).t() @ before.flatten(0, 1),
            None,
            None,
        )
