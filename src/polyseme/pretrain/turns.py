"""Which sequences are read at which step: arithmetic, so that a run can begin at any step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from polyseme.errors import Mistake
from polyseme.pretrain.pairs import Cuts, Ids, Sequences, cut_pairs, cut_singles
from polyseme.text.order import seed_for, shuffled

_N_SPECIAL = {True: 3, False: 2}  # [CLS] first [SEP] second [SEP]; [CLS] text [SEP]


@dataclass(frozen=True, eq=False)
class Turns:
    """Text cut anew each epoch into sequences of at most `length` positions, of which each step reads equally many."""

    sentences: Ids  # (sentences + 1,) where each begins among all pieces
    documents: Ids  # (documents + 1,) the first sentence of each
    length: int
    n_a_step: int
    pairs: bool
    short: float  # the part of the sequences that are shorter on purpose
    seed: int

    @cached_property
    def steps_an_epoch(self) -> int:
        """As many as the first epoch has; a later one that has a few sequences less reads some of them twice."""
        n_sequences = len(self.epoch(0))
        if n_sequences < self.n_a_step:
            raise Mistake(
                f"The text makes {n_sequences} sequences of up to {self.length} pieces; a step wants {self.n_a_step}. "
                "Give more text, or smaller steps or shorter sequences: --set positions=… length=… long_length=null."
            )
        return n_sequences // self.n_a_step

    def step(self, number: int) -> Sequences:
        """What is read at a step."""
        epoch, turn = divmod(number, self.steps_an_epoch)
        found = self.epoch(epoch)
        places = (turn * self.n_a_step + np.arange(self.n_a_step)) % len(found)
        return found[shuffled(places, len(found), self.seed, epoch)]

    @lru_cache(maxsize=2)  # noqa: B019 (two epochs' sequences; lives and dies with the process's few of these)
    def epoch(self, number: int) -> Sequences:
        """All sequences of an epoch."""
        rng = np.random.Generator(np.random.PCG64(seed_for(self.seed, number)))
        return (cut_pairs if self.pairs else cut_singles)(self._cuts, self.short, rng)

    @cached_property
    def _cuts(self) -> Cuts:
        return Cuts.of(self.sentences, self.documents, self.length - _N_SPECIAL[self.pairs])


@dataclass(frozen=True)
class Phases:
    """Short sequences first and long ones for the last steps, since attention to long ones costs more."""

    short: Turns
    long: Turns | None
    n_short_steps: int  # how many steps come before the long ones

    @property
    def longest(self) -> int:
        """Positions of the longest sequence."""
        return (self.long or self.short).length

    def is_long(self, number: int) -> bool:
        """Whether a step reads long sequences, or the only ones there are."""
        return self.long is None or number >= self.n_short_steps

    def step(self, number: int) -> Sequences:
        if self.long is None or not self.is_long(number):
            return self.short.step(number)
        return self.long.step(number - self.n_short_steps)
