"""An LSTM layer over packed sequences of unequal length, with DropConnect on its recurrent weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, nn

from polyseme.layers.dropout import dropped_weight, variational, variational_block
from polyseme.layers.time_major import TimeMajor
from polyseme.layers.unroll import Kind, unroll

_KIND = Kind("ifjo")


class PackedLstm(nn.Module):
    """One LSTM layer, gates in torch's order i, f, g, o; vectors go in and come out in the order of `Steps`."""

    def __init__(self, in_width: int, out_width: int) -> None:
        super().__init__()
        self.width = out_width
        self.weight_ih = nn.Parameter(torch.empty(4 * out_width, in_width))
        self.weight_hh = nn.Parameter(torch.empty(4 * out_width, out_width))
        self.bias_ih = nn.Parameter(torch.empty(4 * out_width))
        self.bias_hh = nn.Parameter(torch.empty(4 * out_width))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(out_width**-0.5), out_width**-0.5)

    def forward(
        self, vectors: Tensor, steps: Steps, hidden: Tensor, cell: Tensor, weight_p: float = 0.0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The layer's vectors, and its (sequences, width) hidden and cell state after each sequence's last position."""
        if vectors.numel() == 0:
            return vectors.new_zeros(*vectors.shape[:-1], self.width), hidden, cell
        recurrent = dropped_weight(self.weight_hh, weight_p, self.training)
        return steps.run(vectors, hidden, cell, [self.weight_ih, recurrent, self.bias_ih, self.bias_hh])


def steps_of(offsets: Tensor) -> Steps:
    """How LSTM layers read packed rows; worked out once a batch, then shared by all of them."""
    lengths, n_sequences = offsets.diff(), len(offsets) - 1
    if n_sequences == 0 or int(lengths.min()) == int(lengths.max()):
        return EvenSteps(n_sequences)
    return UnevenSteps(TimeMajor.of(offsets))


@dataclass(frozen=True)
class EvenSteps:
    """Sequences of one length are read as they lie: (sequences, length, width)."""

    n_sequences: int

    def arrange(self, rows: Tensor) -> Tensor:
        return rows.reshape(self.n_sequences, len(rows) // max(1, self.n_sequences), *rows.shape[1:])

    def restore(self, vectors: Tensor) -> Tensor:
        return vectors.flatten(0, 1)

    def drop(self, vectors: Tensor, p: float, training: bool) -> Tensor:
        return variational_block(vectors, p, training)

    def run(
        self, vectors: Tensor, hidden: Tensor, cell: Tensor, weights: list[Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        start = (hidden.unsqueeze(0), cell.unsqueeze(0))
        learns = torch.is_grad_enabled()  # cudnn keeps what backward() needs only if told so, eval mode or not
        out, hidden, cell = torch.lstm(vectors, start, weights, True, 1, 0.0, learns, False, True)
        return out, hidden[0], cell[0]


@dataclass(frozen=True)
class UnevenSteps:
    """Others are read step by step: every first position, every second one, … as sequences end."""

    order: TimeMajor

    @property
    def n_sequences(self) -> int:
        return len(self.order.sequences)

    def arrange(self, rows: Tensor) -> Tensor:
        return rows.index_select(0, self.order.rows)

    def restore(self, vectors: Tensor) -> Tensor:
        return vectors.index_select(0, self.order.places)

    def drop(self, vectors: Tensor, p: float, training: bool) -> Tensor:
        return variational(vectors, self.order.owners, self.n_sequences, p, training)

    def run(
        self, vectors: Tensor, hidden: Tensor, cell: Tensor, weights: list[Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        weight_input, weight_hidden, bias_input, bias_hidden = weights
        order, bias = self.order, bias_input + bias_hidden
        state = hidden[order.sequences], cell[order.sequences]
        out, hidden, cell = unroll(vectors, order.sizes, *state, weight_input, weight_hidden, bias, None, _KIND)
        return out, hidden[order.ranks], cell[order.ranks]


Steps: TypeAlias = EvenSteps | UnevenSteps
