"""A projected, clipped LSTM of one direction over packed sequences."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from polyseme.layers.products import Precision, Product, product
from polyseme.layers.time_major import TimeMajor
from polyseme.layers.unroll import Kind, unroll

LstmState = tuple[Tensor, Tensor]  # (sequences, width) output before any residual, (sequences, cell_width) memory

_ROWS = 1024  # of the input product at once: enough to be fast, few enough to bound the gates' memory


class ProjectedLstm(nn.Module):
    """c = clip(f * c + i * j), h = clip(project(o * tanh(c))), as in Sak et al. 2014.

    Gates stand in the order i, f, o, j: those that take a sigmoid side by side. The bias is the one released files
    hold; the forget gate's further 1 is added when computing, since in floating point (b + 1) - 1 is not b.
    """

    def __init__(
        self, width: int, cell_width: int, cell_clip: float | None = 3.0, projection_clip: float | None = 3.0
    ) -> None:
        super().__init__()
        self.cell_clip, self.projection_clip = cell_clip, projection_clip
        self.input = nn.Linear(width, 4 * cell_width)
        self.recurrent = nn.Linear(width, 4 * cell_width, bias=False)
        self.projection = nn.Linear(cell_width, width, bias=False)
        self._start()

    def forward(
        self,
        rows: Tensor,
        order: TimeMajor,
        state: LstmState | None = None,
        precision: Precision = "float32",
    ) -> tuple[Tensor, LstmState]:
        """(positions, width) outputs, and the state of each sequence after the last position in this order."""
        hidden, memory = self._first(rows, len(order.sequences)) if state is None else state
        run = self._unroll if torch.is_grad_enabled() else _Step(self, precision).run
        outputs, hidden, memory = run(rows[order.rows], order.sizes, hidden[order.sequences], memory[order.sequences])
        return outputs[order.places], (hidden[order.ranks], memory[order.ranks])

    def unrolled(self, inputs: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows of one length, (steps, rows, width), with fast gradients: outputs, and the state after the last step,
        which carries none on."""
        steps, n_rows, _ = inputs.shape
        outputs, hidden, memory = self._unroll(inputs.flatten(0, 1), [n_rows] * steps, hidden, memory)
        return outputs.view(steps, n_rows, -1), hidden.detach(), memory.detach()

    def _unroll(self, rows: Tensor, sizes: list[int], hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        kind = Kind("ifoj", self.cell_clip or math.inf, self.projection_clip or math.inf)
        weights = (self.input.weight, self.recurrent.weight, self.gate_bias(), self.projection.weight)
        return unroll(rows, sizes, hidden, memory, *weights, kind)

    def gate_bias(self) -> Tensor:
        """The bias with the forget gate's further 1."""
        cell_width = self.projection.in_features
        forget = torch.zeros_like(self.input.bias)
        forget[cell_width : 2 * cell_width] = 1
        return self.input.bias + forget

    def _first(self, rows: Tensor, n_sequences: int) -> LstmState:
        return (
            rows.new_zeros(n_sequences, self.projection.out_features),
            rows.new_zeros(n_sequences, self.projection.in_features),
        )

    def _start(self) -> None:
        """As TensorFlow starts: one Glorot-uniform matrix for input and recurrence together."""
        gates, width = self.input.weight.shape
        for linear in (self.input, self.recurrent):
            nn.init.uniform_(linear.weight, -math.sqrt(6 / (gates + 2 * width)), math.sqrt(6 / (gates + 2 * width)))
        nn.init.zeros_(self.input.bias)
        nn.init.xavier_uniform_(self.projection.weight)


class _Step:
    """One time step after another, with the products chosen once."""

    def __init__(self, lstm: ProjectedLstm, precision: Precision) -> None:
        self.lstm = lstm
        self.input: Product = product(lstm.input, precision)
        self.recurrent: Product = product(lstm.recurrent, precision)
        self.projection: Product = product(lstm.projection, precision)
        self.bias = lstm.gate_bias()

    def run(self, rows: Tensor, sizes: list[int], hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Time-major outputs and the last state; a sequence leaves the batch when it ends."""
        outputs, ended = [rows[:0]], []
        for gates in self._gates(rows, sizes):
            if len(gates) < len(hidden):
                ended.append((hidden[len(gates) :], memory[len(gates) :]))
                hidden, memory = hidden[: len(gates)], memory[: len(gates)]
            hidden, memory = self._advance(gates, hidden, memory)
            outputs.append(hidden)
        ended.append((hidden, memory))
        hiddens, memories = zip(*reversed(ended), strict=True)  # the shortest stand last
        return torch.cat(outputs), torch.cat(hiddens), torch.cat(memories)

    def _gates(self, rows: Tensor, sizes: list[int]) -> Iterator[Tensor]:
        """The input's part in the gates of each step: it waits for no state, so many steps share a product."""
        first = 0
        while sizes:
            n_steps, n_rows = _fill(sizes, _ROWS)
            yield from self.input(rows[first : first + n_rows], self.bias).split_with_sizes(sizes[:n_steps])
            first, sizes = first + n_rows, sizes[n_steps:]

    def _advance(self, gates: Tensor, hidden: Tensor, memory: Tensor) -> LstmState:
        recurrent = self.recurrent(hidden, None)
        memory, out = _cell(gates, recurrent, memory, self.lstm.cell_clip)
        return _clip(self.projection(out, None), self.lstm.projection_clip), memory


def _cell(gates: Tensor, recurrent: Tensor, memory: Tensor, clip: float | None) -> tuple[Tensor, Tensor]:
    """Without new memory for each result: `gates` and `memory` are overwritten.

    tanh(x) is 1 - 2 * sigmoid(-2x): torch's tanh takes four times as long as its sigmoid, and one call does all gates.
    """
    gates.add_(recurrent)
    gates[:, 3 * memory.shape[1] :].mul_(-2)
    i, f, o, j = gates.sigmoid_().chunk(4, 1)
    memory.mul_(f).add_(i).addcmul_(i, j, value=-2)
    if clip:
        memory.clamp_(-clip, clip)
    return memory, torch.addcmul(o, o, (memory * -2).sigmoid_(), value=-2)


def _clip(values: Tensor, clip: float | None) -> Tensor:
    return values.clamp(-clip, clip) if clip else values


def _fill(sizes: list[int], n_rows: int) -> tuple[int, int]:
    """How many steps come to that many rows, at least one, and the rows they come to."""
    total = 0
    for n_steps, size in enumerate(sizes):
        if n_steps and total + size > n_rows:
            return n_steps, total
        total += size
    return len(sizes), total
