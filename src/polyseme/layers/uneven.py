"""Sequences of unequal length through an LSTM, with the backward pass written by hand.

torch's own way keeps a graph of every step, and adds to every weight's gradient at each of them. Here the loop carries
only what one step needs from its neighbour; all weight gradients are single products over all rows afterwards.
tanh(x) is 2 * sigmoid(2x) - 1 throughout: torch's tanh takes four times as long as its sigmoid.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor

from polyseme.layers.products import packed_for


def uneven_lstm(
    inputs: Tensor,  # (rows, input_width): every first row, every second one, …, the longest sequence first
    sizes: list[int],  # how many sequences reach each step: never rising
    hidden: Tensor,  # (sequences, width), the state before the first step
    cell: Tensor,
    weight_input: Tensor,  # (4 * width, input_width), gates: input, forget, candidate, output
    weight_hidden: Tensor,  # (4 * width, width)
    bias: Tensor,  # (4 * width,)
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs (rows, width), and hidden and cell of each sequence after its own last step."""
    last = _last_rows(sizes, inputs.device)
    outputs, last_cell = _Uneven.apply(  # type: ignore[no-untyped-call]
        inputs, sizes, last, hidden, cell, weight_input, weight_hidden, bias
    )
    return outputs, outputs.index_select(0, last), last_cell


class _Uneven(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, sizes: list[int], last: Tensor, hidden: Tensor, cell: Tensor,
        weight_input: Tensor, weight_hidden: Tensor, bias: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        gates = torch.addmm(bias, inputs, weight_input.t())  # (rows, 4 * width)
        width = hidden.shape[1]
        cells, squashed, outputs = (inputs.new_empty(len(inputs), width) for _ in range(3))
        recurrent, previous, memory = packed_for(weight_hidden), hidden, cell
        for first, end in _steps(sizes):
            gate = gates[first:end].add_(recurrent(previous[: end - first]))
            take_in, forget, candidate, let_out = torch.split(gate, width, 1)
            candidate.mul_(2)
            gate.sigmoid_()
            candidate.mul_(2).sub_(1)
            memory = torch.mul(forget, memory[: end - first], out=cells[first:end]).addcmul_(take_in, candidate)
            torch.mul(memory, 2, out=squashed[first:end]).sigmoid_().mul_(2).sub_(1)
            previous = torch.mul(let_out, squashed[first:end], out=outputs[first:end])
        ctx.save_for_backward(
            inputs, last, hidden, cell, weight_input, weight_hidden, gates, cells, squashed, outputs
        )  # fmt: skip
        ctx.sizes = sizes
        return outputs, cells.index_select(0, last)

    @staticmethod
    def backward(ctx: Any, grad_outputs: Tensor, grad_last: Tensor) -> Any:
        inputs, last, hidden, cell, weight_input, weight_hidden, gates, cells, squashed, outputs = ctx.saved_tensors
        sizes: list[int] = ctx.sizes
        width, before = hidden.shape[1], _rows_before(sizes, inputs.device)
        take_in, forget, candidate, let_out = torch.split(gates, width, 1)
        # what each gate's sum does to the cell, or for the output gate to the output, at all steps at once
        slopes = torch.empty_like(gates)
        into = torch.split(slopes, width, 1)
        torch.mul(candidate * take_in, 1 - take_in, out=into[0])
        torch.mul(torch.cat([cell, cells])[before] * forget, 1 - forget, out=into[1])
        torch.mul(take_in, 1 - candidate.square(), out=into[2])
        torch.mul(squashed * let_out, 1 - let_out, out=into[3])
        through = let_out * (1 - squashed.square())
        grads = grad_outputs.clone()
        grad_cells = torch.zeros_like(cells).index_copy_(0, last, grad_last)
        backwards = packed_for(weight_hidden.t())
        grad_hidden, grad_cell = hidden[:0], cell[:0]  # of the state after a step, for the sequences that go on
        for first, end in reversed(_steps(sizes)):
            going_on = first + len(grad_hidden)
            grads[first:going_on].add_(grad_hidden)
            grad_cells[first:going_on].add_(grad_cell)
            now = grad_cells[first:end].addcmul_(grads[first:end], through[first:end])
            slope = slopes[first:end].view(-1, 4, width)
            slope[:, :3].mul_(now.unsqueeze(1))
            slope[:, 3].mul_(grads[first:end])
            grad_hidden, grad_cell = backwards(slopes[first:end]), now * forget[first:end]
        previous = torch.cat([hidden, outputs])[before]  # (rows, width), what each step was given
        grad_weights = slopes.t() @ torch.cat([inputs, previous], 1)  # one product for both matrices
        return (
            slopes @ weight_input if ctx.needs_input_grad[0] else None,
            None,
            None,
            grad_hidden,
            grad_cell,
            grad_weights[:, : inputs.shape[1]],
            grad_weights[:, inputs.shape[1] :],
            slopes.sum(0),
        )


def _steps(sizes: list[int]) -> list[tuple[int, int]]:
    """The rows of each step: the first, and the one behind the last."""
    return list(pairwise(accumulate(sizes, initial=0)))


def _last_rows(sizes: list[int], device: torch.device) -> Tensor:
    """(sequences,) the row of each sequence's last step.

    >>> _last_rows([3, 2, 1], torch.device("cpu")).tolist()
    [5, 4, 2]
    """
    of_steps, ranks = torch.tensor(sizes, device=device), torch.arange(sizes[0], device=device)
    lengths = (of_steps.unsqueeze(1) > ranks).sum(0)
    return (of_steps.cumsum(0) - of_steps)[lengths - 1] + ranks


def _rows_before(sizes: list[int], device: torch.device) -> Tensor:
    """(rows,) where each row's state before it stands among the first states and, behind them, those of all rows.

    >>> _rows_before([3, 2, 1], torch.device("cpu")).tolist()
    [0, 1, 2, 3, 4, 6]
    """
    of_steps = torch.tensor(sizes, device=device)
    begins = of_steps.cumsum(0) - of_steps
    shift = torch.cat([begins.new_zeros(1), begins[:-1] + sizes[0]])
    return torch.arange(sum(sizes), device=device) + (shift - begins).repeat_interleave(of_steps)
