"""Words from their characters: convolutions, max over time, highway layers, a projection."""

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.layers.products import product, product_of
from polyseme.layers.start import normal_
from polyseme.types import Packed

Activation = Literal["relu", "tanh"]

_WORDS = 256  # a part: enough rows for a fast product, few enough that the windows of a part fit the cache


class CharCnn(nn.Module):
    """Spellings in, one vector a word out.

    The result is that of words padded to `max_characters`. All windows of pads are alike and the maximum needs one
    of them, so words are sorted by length and padded only a filter's width beyond the longest of their part.
    """

    def __init__(
        self,
        n_characters: int,
        pad: int,
        max_characters: int,
        character_width: int,
        filters: Sequence[tuple[int, int]],  # (characters wide, how many)
        n_highway: int,
        width: int | None,  # None: as many as there are filters, without a projection
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        self.pad, self.max_characters, self.filters, self.activation = pad, max_characters, tuple(filters), activation
        n_filters = sum(n for _, n in filters)
        self.width = n_filters if width is None else width
        self.characters = nn.Parameter(torch.empty(n_characters, character_width))
        self.kernels = nn.ParameterList(torch.empty(wide * character_width, n) for wide, n in filters)
        self.biases = nn.ParameterList(torch.zeros(n) for _, n in filters)
        self.highways = nn.ModuleList(Highway(n_filters) for _ in range(n_highway))
        self.projection = None if width is None else nn.Linear(n_filters, width)
        self._start()

    def forward(self, spellings: Packed) -> Tensor:
        lengths = spellings.offsets.diff()
        order = lengths.argsort(stable=True)
        if not len(order):
            return self.characters.new_zeros(0, self.width)
        parts = [self._part(spellings, rows) for rows in torch.split(order, _WORDS)]
        return torch.cat(parts)[order.argsort()]  # (words, width)

    def _part(self, spellings: Packed, rows: Tensor) -> Tensor:
        pooled = self._pool(self._padded(spellings, rows))  # (words, filters)
        pooled = pooled.relu() if self.activation == "relu" else pooled.tanh()
        for highway in self.highways:
            pooled = highway(pooled)
        if self.projection is None:
            return pooled
        return product(self.projection)(pooled, self.projection.bias)

    def _padded(self, spellings: Packed, rows: Tensor) -> Tensor:
        """(words, longest + widest filter) characters."""
        lengths = spellings.offsets.diff()[rows]
        longest = int(lengths.max())
        assert longest <= self.max_characters, "the tokenizer cuts words off at the encoder's max_characters"
        columns = torch.arange(longest + max(wide for wide, _ in self.filters), device=rows.device)
        places = spellings.offsets[rows].unsqueeze(1) + columns
        values = spellings.values[places.clamp(max=len(spellings.values) - 1)].long()
        return values.masked_fill_(columns >= lengths.unsqueeze(1), self.pad)

    def _pool(self, characters: Tensor) -> Tensor:
        """The maximum of each filter over the windows that words padded to max_characters have."""
        embedded = F.embedding(characters, self.characters).flatten(1)  # (words, characters * width)
        window = max(len(kernel) for kernel in self.kernels)
        windows = embedded.unfold(1, window, self.characters.shape[1])  # (words, starts, window)
        # flat, since a matrix product of overlapping views is done word by word
        scores = product_of(self, "kernels", self._joined)(windows.flatten(0, 1), None)
        scores = scores.view(*windows.shape[:2], -1)  # (words, starts, filters)
        starts = [self.max_characters - wide + 1 for wide, _ in self.filters]
        if scores.shape[1] <= min(starts):
            return scores.amax(1) + torch.cat(list(self.biases))  # the bias moves a maximum, it does not choose it
        parts = zip(scores.split_with_sizes([n for _, n in self.filters], 2), starts, self.biases, strict=True)
        return torch.cat([part[:, :valid].amax(1) + bias for part, valid, bias in parts], 1)

    def _joined(self) -> Tensor:
        """All filters as one matrix, the narrow ones with zeros below: one product instead of many small ones."""
        widest = max(len(kernel) for kernel in self.kernels)
        return torch.cat([F.pad(kernel, (0, 0, 0, widest - len(kernel))) for kernel in self.kernels], 1).T

    def _start(self) -> None:
        """As the reference starts."""
        nn.init.uniform_(self.characters, -1, 1)
        for kernel in self.kernels:
            if self.activation == "relu":
                nn.init.uniform_(kernel, -0.05, 0.05)
            else:
                normal_(kernel, math.sqrt(1 / len(kernel)))
        if self.projection is not None:
            start_normal(self.projection)


class Highway(nn.Module):
    """A layer that carries part of its input through: g * relu(Wx + b) + (1 - g) * x."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.carry = start_normal(nn.Linear(width, width), bias=-2.0)  # at first nearly everything passes unchanged
        self.transform = start_normal(nn.Linear(width, width))

    def forward(self, rows: Tensor) -> Tensor:
        gate = product(self.carry)(rows, self.carry.bias).sigmoid_()
        return rows.lerp(product(self.transform)(rows, self.transform.bias).relu_(), gate)


def start_normal(linear: nn.Linear, bias: float = 0.0) -> nn.Linear:
    """Weights that keep the size of what goes through, and one bias for all."""
    normal_(linear.weight, math.sqrt(1 / linear.in_features))
    nn.init.constant_(linear.bias, bias)
    return linear
