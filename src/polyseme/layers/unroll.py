"""Sequences through an LSTM, with the backward pass written by hand.

Autograd through a loop of cells adds to every weight's gradient at every step. Here the loop carries only what one
step needs from its neighbour; all weight gradients are single products over all rows afterwards. tanh(x) is
2 * sigmoid(2x) - 1 throughout: torch's tanh takes four times as long as its sigmoid.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal

import torch
from torch import Tensor

from polyseme.layers.dense import times
from polyseme.layers.products import packed_for

_NO_CLIP = float("inf")


@dataclass(frozen=True)
class Kind:
    """What sets one kind of LSTM apart."""

    gates: Literal["ifoj", "ifjo"]  # their order in the weights: input, forget, output, and the candidate j
    cell_clip: float = _NO_CLIP
    projection_clip: float = _NO_CLIP


def unroll(
    inputs: Tensor,  # (rows, input_width): every sequence's first row, then every second one, …, the longest first
    sizes: list[int],  # how many sequences reach each step: never rising
    hidden: Tensor,  # (sequences, width), the state before the first step
    cell: Tensor,  # (sequences, units)
    weight_input: Tensor,  # (4 * units, input_width)
    weight_hidden: Tensor,  # (4 * units, width)
    bias: Tensor,  # (4 * units,)
    weight_projection: Tensor | None,  # (width, units); without it width and units are one
    kind: Kind,
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs (rows, width), and hidden and cell of each sequence after its own last step.

    Sequences without rows stand last, and keep the state they came with.
    """
    if not sizes:
        return hidden[:0], hidden, cell
    n, last = sizes[0], _last_rows(sizes, inputs.device)
    outputs, last_cell = _Unroll.apply(  # type: ignore[no-untyped-call]
        inputs, sizes, last, hidden[:n], cell[:n], weight_input, weight_hidden, bias, weight_projection, kind
    )
    return outputs, torch.cat([outputs.index_select(0, last), hidden[n:]]), torch.cat([last_cell, cell[n:]])


class _Unroll(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, sizes: list[int], last: Tensor, hidden: Tensor, cell: Tensor, weight_input: Tensor,
        weight_hidden: Tensor, bias: Tensor, weight_projection: Tensor | None, kind: Kind,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        gates = times(inputs, weight_input, bias)  # (rows, 4 * units)
        units = cell.shape[1]
        cells, squashed, before = (inputs.new_empty(len(inputs), units) for _ in range(3))  # before the projection
        outputs = before if weight_projection is None else inputs.new_empty(len(inputs), len(weight_projection))
        recurrent, previous, memory = packed_for(weight_hidden), hidden, cell
        project = None if weight_projection is None else packed_for(weight_projection)
        for first, end in _steps(sizes):
            gate = gates[first:end].add_(recurrent(previous[: end - first]))
            take_in, forget, let_out, candidate = _apart(gate, kind)
            candidate.mul_(2)
            gate.sigmoid_()
            candidate.mul_(2).sub_(1)
            memory = torch.mul(forget, memory[: end - first], out=cells[first:end]).addcmul_(take_in, candidate)
            if kind.cell_clip < _NO_CLIP:
                memory.clamp_(-kind.cell_clip, kind.cell_clip)
            torch.mul(memory, 2, out=squashed[first:end]).sigmoid_().mul_(2).sub_(1)
            previous = torch.mul(let_out, squashed[first:end], out=before[first:end])
            if project is not None:
                projected, most = project(previous), kind.projection_clip
                previous = torch.clamp(projected, -most, most, out=outputs[first:end])
        ctx.save_for_backward(
            inputs, last, hidden, cell, weight_input, weight_hidden, weight_projection,
            gates, cells, squashed, before, outputs,
        )  # fmt: skip
        ctx.sizes, ctx.kind = sizes, kind
        return outputs, cells.index_select(0, last)

    @staticmethod
    def backward(ctx: Any, grad_outputs: Tensor, grad_last: Tensor) -> Any:
        (
            inputs, last, hidden, cell, weight_input, weight_hidden, weight_projection,
            gates, cells, squashed, before, outputs,
        ) = ctx.saved_tensors  # fmt: skip
        sizes, kind = ctx.sizes, ctx.kind
        take_in, forget, let_out, candidate = _apart(gates, kind)
        # what each gate's sum does to the cell, or for the output gate to what is projected, at all steps at once
        slopes = torch.empty_like(gates)
        of_in, of_forget, of_out, of_candidate = _apart(slopes, kind)
        torch.mul(candidate * take_in, 1 - take_in, out=of_in)
        torch.mul(_before(cell, cells, sizes) * forget, 1 - forget, out=of_forget)
        torch.mul(squashed * let_out, 1 - let_out, out=of_out)
        torch.mul(take_in, 1 - candidate.square(), out=of_candidate)
        through = let_out * (1 - squashed.square())
        cell_free = cells.abs() < kind.cell_clip if kind.cell_clip < _NO_CLIP else None  # where a clip held, nothing
        output_free = outputs.abs() < kind.projection_clip if weight_projection is not None else None  # flows
        backwards = packed_for(weight_hidden.t())
        project = None if weight_projection is None else packed_for(weight_projection.t())
        grads, grad_cells = grad_outputs.clone(), torch.zeros_like(cells).index_copy_(0, last, grad_last)
        grad_hidden, grad_cell = hidden[:0], cell[:0]  # of the state after a step, for the sequences that go on
        for first, end in reversed(_steps(sizes)):
            going_on = first + len(grad_hidden)
            grads[first:going_on].add_(grad_hidden)
            grad_cells[first:going_on].add_(grad_cell)
            grad = grads[first:end]
            if project is not None and output_free is not None:
                grad = project(grad.mul_(output_free[first:end]))
            now = grad_cells[first:end].addcmul_(grad, through[first:end])
            if cell_free is not None:
                now.mul_(cell_free[first:end])
            for slope, of_what in zip(_apart(slopes[first:end], kind), (now, now, grad, now), strict=True):
                slope.mul_(of_what)
            grad_hidden, grad_cell = backwards(slopes[first:end]), now * forget[first:end]
        previous = _before(hidden, outputs, sizes)  # (rows, width), what each step was given
        grad_weights = times(slopes.t(), torch.cat([inputs, previous], 1).t())  # one product for both matrices
        return (
            times(slopes, weight_input.t()) if ctx.needs_input_grad[0] else None,
            None,
            None,
            grad_hidden,
            grad_cell,
            grad_weights[:, : inputs.shape[1]],
            grad_weights[:, inputs.shape[1] :],
            slopes.sum(0),
            None if weight_projection is None else times(grads.t(), before.t()),
            None,
        )


def _apart(gates: Tensor, kind: Kind) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(rows, 4 * units) as input, forget, output and candidate, each (rows, units)."""
    take_in, forget, third, fourth = gates.chunk(4, 1)
    return (take_in, forget, third, fourth) if kind.gates == "ifoj" else (take_in, forget, fourth, third)


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


def _before(first: Tensor, rows: Tensor, sizes: list[int]) -> Tensor:
    """Of each row the one before it in its sequence; of a sequence's first row its `first`.

    >>> _before(torch.tensor([-1, -2, -3]), torch.arange(6), [3, 2, 1]).tolist()
    [-1, -2, -3, 0, 1, 3]
    """
    parts = [first]
    for (begin, _), size in zip(_steps(sizes)[:-1], sizes[1:], strict=True):
        parts.append(rows[begin : begin + size])
    return torch.cat(parts)
