"""Self-attention over packed sequences: those of equal length share one call, without padding or mask."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.layers.products import Precision
from polyseme.layers.rounded import linear


@dataclass(frozen=True)
class Runs:
    """How packed sequences are worked through: neighbours of equal length together.

    Where sequences of one length do not stand together, rows are put into an order in which they do. Rows of zeros may
    come behind them, each a sequence of its own, where products want a round number of rows.
    """

    shapes: list[tuple[int, int]]  # (sequences, length) of each run
    order: Tensor | None = None  # (positions,) where each row in order comes from; None where it stays
    places: Tensor | None = None  # (positions,) where each row goes to: the inverse
    n_more: int = 0  # rows of zeros

    @classmethod
    def of(cls, offsets: Tensor, n_more: int = 0) -> Runs:
        """The runs of a Batch's offsets and of so many rows of zeros; found once for all layers.

        >>> Runs.of(torch.tensor([0, 2, 4, 7])).shapes
        [(2, 2), (1, 3)]
        """
        lengths = offsets.diff()
        shapes = _shapes(lengths)
        by_length, sequences = lengths.sort(stable=True)
        sorted_shapes = _shapes(by_length)
        zeros = [(n_more, 1)] if n_more else []
        if len(sorted_shapes) == len(shapes):
            return cls(shapes + zeros, n_more=n_more)
        starts = by_length.cumsum(0) - by_length
        order = torch.arange(int(offsets[-1]), device=offsets.device)
        order = order + (offsets[sequences] - starts).repeat_interleave(by_length)
        return cls(sorted_shapes + zeros, order, order.argsort(), n_more)

    def arranged(self, rows: Tensor) -> Tensor:
        rows = rows if self.order is None else rows.index_select(0, self.order)
        return F.pad(rows, (0, 0, 0, self.n_more)) if self.n_more else rows

    def places_of(self, positions: Tensor) -> Tensor:
        """Where these positions' rows are once all are arranged."""
        return positions if self.places is None else self.places[positions]

    def restored(self, rows: Tensor) -> Tensor:
        """The inverse of `arranged`."""
        if self.places is not None:
            return rows.index_select(0, self.places)
        return rows[: len(rows) - self.n_more] if self.n_more else rows


class SelfAttention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017), each row seeing the rows of its own sequence."""

    def __init__(self, width: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if width % n_heads:
            raise Mistake(f"A width of {width} cannot be shared among {n_heads} heads; choose numbers that divide.")
        self.width, self.n_heads, self.dropout = width, n_heads, dropout
        self.qkv = nn.Linear(width, 3 * width)  # queries, keys and values in one product
        self.out = nn.Linear(width, width)

    def forward(self, rows: Tensor, runs: Runs, precision: Precision = "float32", only: Tensor | None = None) -> Tensor:
        """(positions, width), or `only` at some of the positions."""
        if not runs.shapes:
            return rows
        heads = linear(self.qkv, rows, precision)  # (positions, 3 * width)
        parts = torch.split(heads, [n * length for n, length in runs.shapes])
        found = [self._attend(part, n, length) for part, (n, length) in zip(parts, runs.shapes, strict=True)]
        mixed = found[0] if len(found) == 1 else torch.cat(found)
        return linear(self.out, mixed if only is None else mixed.index_select(0, only), precision)

    def _attend(self, part: Tensor, n: int, length: int) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if length == 1 and not dropout:
            return part[:, 2 * self.width :]  # who is alone attends to itself: its value
        heads = part.view(n, length, 3, self.n_heads, -1)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind()  # each (n, heads, length, width of a head)
        mixed = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
        return mixed.transpose(1, 2).reshape(n * length, self.width)


def _shapes(lengths: Tensor) -> list[tuple[int, int]]:
    of_run, n = torch.unique_consecutive(lengths, return_counts=True)
    return [(n, length) for n, length in zip(n.tolist(), of_run.tolist(), strict=True) if length]
