"""Which examples come at which step: texts of like length together, the batches shuffled."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyseme.text.order import shuffled

_WINDOW = 64  # batches whose examples are sorted by length together


@dataclass(frozen=True, eq=False)
class Order:
    """A pure function of (seed, step). Like lengths share attention calls and leave no core waiting for the longest."""

    lengths: Tensor  # (examples,)
    batch_size: int
    seed: int
    _kept: dict[int, NDArray[np.int64]] = field(default_factory=dict, init=False)  # the order of one epoch

    @property
    def steps_an_epoch(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    def examples(self, step: int) -> Tensor:
        """The numbers of a step's examples, rising."""
        epoch, number = divmod(step, self.steps_an_epoch)
        order = self._epoch(epoch)
        batch = int(shuffled(number, self.steps_an_epoch, self.seed + 1, epoch)[0])
        chosen = order[batch * self.batch_size : (batch + 1) * self.batch_size]
        return torch.from_numpy(np.sort(chosen))

    def _epoch(self, epoch: int) -> NDArray[np.int64]:
        if epoch not in self._kept:
            n = len(self.lengths)
            order = shuffled(np.arange(n), n, self.seed, epoch)
            windows = np.arange(n) // (self.batch_size * _WINDOW)
            self._kept.clear()
            self._kept[epoch] = order[np.lexsort((self.lengths.numpy()[order], windows))]
        return self._kept[epoch]
