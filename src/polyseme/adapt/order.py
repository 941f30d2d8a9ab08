"""Which examples come at which step: texts of like length together, the batches shuffled."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyseme.text.order import shuffled

Numbers = NDArray[np.int64]

_WINDOW = 64  # batches whose examples are sorted by length together


@dataclass(frozen=True, eq=False)
class Order:
    """A pure function of (seed, step). Like lengths share attention calls and leave no core waiting for the longest."""

    lengths: Tensor  # (examples,)
    batch_size: int
    seed: int
    _kept: dict[int, tuple[Numbers, Numbers]] = field(default_factory=dict, init=False)  # of one epoch

    @property
    def steps_an_epoch(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    def examples(self, step: int) -> Tensor:
        """The numbers of a step's examples, rising."""
        epoch, number = divmod(step, self.steps_an_epoch)
        order, batches = self._epoch(epoch)
        first = batches[number] * self.batch_size
        return torch.from_numpy(np.sort(order[first : first + self.batch_size]))

    def _epoch(self, epoch: int) -> tuple[Numbers, Numbers]:
        """The examples in the order in which batches are cut from them, and the order of the batches."""
        if epoch not in self._kept:
            n, n_batches = len(self.lengths), self.steps_an_epoch
            order = shuffled(np.arange(n), n, self.seed, epoch)
            windows = np.arange(n) // (self.batch_size * _WINDOW)
            order = order[np.lexsort((self.lengths.numpy()[order], windows))]
            self._kept.clear()
            self._kept[epoch] = order, shuffled(np.arange(n_batches), n_batches, self.seed + 1, epoch)
        return self._kept[epoch]
