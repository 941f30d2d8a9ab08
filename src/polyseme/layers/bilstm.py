"""A plain BiLSTM over packed rows: a task's own model on top of vectors that do not change."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from polyseme.layers.dropout import variational
from polyseme.layers.packed_lstm import PackedLstm, steps_of
from polyseme.layers.time_major import sequences_of
from polyseme.types import mirrored


class BothWays(NamedTuple):
    """What a BiLSTM gives; a sequence without rows has zeros as its last states."""

    rows: Tensor  # (rows, 2 * width) forward and backward, side by side
    last: Tensor  # (sequences, 2 * width) forward after the last row, backward after the first


class BiLstm(nn.Module):
    """Layers of two LSTMs, `width` a direction; the next layer reads both.

    Dropout is variational (Gal & Ghahramani 2016): before each layer, one mask a sequence.
    """

    def __init__(self, in_width: int, width: int, n_layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.width, self.dropout = 2 * width, dropout
        widths = [in_width, *[2 * width] * (n_layers - 1)]
        self.forwards = nn.ModuleList(PackedLstm(below, width) for below in widths)
        self.backwards = nn.ModuleList(PackedLstm(below, width) for below in widths)

    def forward(self, rows: Tensor, offsets: Tensor) -> BothWays:
        steps, mirror, sequences = steps_of(offsets), mirrored(offsets), sequences_of(offsets)
        start = rows.new_zeros(steps.n_sequences, self.width // 2)
        last = torch.cat([start, start], 1)
        for ahead, back in zip(self.forwards, self.backwards, strict=True):
            rows = variational(rows, sequences, steps.n_sequences, self.dropout, self.training)
            one, one_last, _ = ahead(steps.arrange(rows), steps, start, start)
            other, other_last, _ = back(steps.arrange(rows[mirror]), steps, start, start)
            rows = torch.cat([steps.restore(one), steps.restore(other)[mirror]], 1)
            last = torch.cat([one_last, other_last], 1)
        return BothWays(rows, last)
