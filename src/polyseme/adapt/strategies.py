"""Which blocks of an encoder learn, and how fast: pure functions of the epoch."""

from __future__ import annotations

from typing import Literal

from polyseme.train.schedule import slanted_triangular, warm_up_linear

Tune = Literal["frozen", "full", "gradual"]
Factors = tuple[float, ...]


def factors(tune: Tune, n_blocks: int, epoch: int, decay: float = 1.0) -> Factors:
    """The factor of each block's learning rate, bottom first; 0 means that it stays as it is.

    `decay` is how much slower each block learns than the one above it: ULMFiT's discriminative rates are 1 / 2.6.
    Gradual: the head alone in the first epoch, then one more block each epoch, top first.

    >>> factors("gradual", 3, epoch=2, decay=0.5)
    (0.0, 0.5, 1.0)
    """
    n_thawed = {"frozen": 0, "full": n_blocks, "gradual": min(epoch, n_blocks)}[tune]
    return tuple(decay ** (n_blocks - 1 - block) if block >= n_blocks - n_thawed else 0.0 for block in range(n_blocks))


def rate_factor(tune: Tune, n_blocks: int, step: int, steps_an_epoch: int, n_epochs: int, warm_up: float) -> float:
    """The schedule of the highest rate. Gradual: a slanted triangle each time a block thaws, then one for the rest."""
    n_steps = steps_an_epoch * n_epochs
    if tune != "gradual":
        return warm_up_linear(step, n_steps, warm_up)
    epoch = step // steps_an_epoch
    if epoch < min(n_blocks, n_epochs - 1):
        return slanted_triangular(step % steps_an_epoch, steps_an_epoch)
    first = min(n_blocks, n_epochs - 1) * steps_an_epoch
    return slanted_triangular(step - first, n_steps - first)
