"""BERT's objective: the words that were masked, and whether two sentences are adjacent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from polyseme.encoders import Pretrained
from polyseme.encoders.bert_centre import centre
from polyseme.layers.softmax import perplexity
from polyseme.pretrain.examples import Examples, read
from polyseme.pretrain.masked_lm import MaskedLm, Task
from polyseme.pretrain.masking import Masked, Noise, Rates, mask
from polyseme.pretrain.pairs import Ids, Sequences
from polyseme.pretrain.recipes import BertRecipe
from polyseme.pretrain.turns import Phases
from polyseme.text.order import seed_for
from polyseme.text.wordpiece import WordPiece
from polyseme.text.wordpiece_files import SPECIAL, special_piece
from polyseme.types import Batch, State

_EVALUATIONS = 20  # in a run, at the most
_CENTRED = 32  # steps whose text tells what vectors have in common
_DISTANCE = 4  # evaluations are so far apart, in what they read: each then takes a twelfth of the time, at the most


@dataclass(frozen=True)
class Text:
    """Pieces and what is read of them: sequences at each step, and some others that are held out."""

    pieces: NDArray[np.uint32]
    phases: Phases
    held_out: NDArray[np.uint32]  # pieces too
    held_out_sequences: Sequences
    words_a_piece: float


class BertObjective:
    """The mean loss of the words that are asked for, and that of adjacency; masks depend on (seed, step) alone."""

    def __init__(
        self, recipe: BertRecipe, model: MaskedLm, tokenizer: WordPiece, text: Text, n_steps: int, facts: dict[str, Any]
    ) -> None:
        self.recipe, self.module, self.tokenizer, self.text, self.n_steps = recipe, model, tokenizer, text, n_steps
        turns = text.phases.short
        self.steps_an_epoch = turns.steps_an_epoch
        n_held_out = int(text.held_out_sequences.n_pieces.sum()) / recipe.positions  # in steps
        self.evaluate_every = max(1, n_steps // _EVALUATIONS, math.ceil(_DISTANCE * n_held_out))
        sequences = turns.epoch(0)
        self.words_a_step = round(float(sequences.n_pieces.mean()) * turns.n_a_step * text.words_a_piece)
        self.facts = {**facts, "adjacent_ratio": float(sequences.follows.mean())} if recipe.adjacent else facts

    def loss(self, step: int, state: State | None) -> tuple[Iterator[Tensor], None]:
        tasks = self.tasks(step)
        n_asked, n_sequences = sum(len(task.targets) for task in tasks), sum(len(task.strangers) for task in tasks)
        return (self.module.loss(task, n_asked, n_sequences) for task in tasks), None

    def tasks(self, step: int) -> list[Task]:
        """What is asked at a step, in parts of as many positions as are to be in memory at once."""
        examples = self._read(self.text.pieces, self.text.phases.step(step))
        rates = rates_at(self.recipe, step / max(1, self.n_steps - 1))
        rng = _rng(seed_for(self.recipe.seed, step))
        masked = mask(examples, rates, self._noise, self.recipe.whole, rng)
        return self._parts(examples, masked, self._starts(step, examples, rng))

    def evaluate(self) -> dict[str, float]:
        """On sequences that are held out, the same with the same masks each time."""
        loss, n_right, n_asked, n_known, n_pairs = 0.0, 0, 0, 0, 0
        for task in self._held_out:
            scores, adjacency = self.module.scores(task)
            loss += F.cross_entropy(scores, task.targets, reduction="sum").item()
            n_right += int((scores.argmax(1) == task.targets).sum())
            n_asked += len(task.targets)
            if adjacency is not None:
                n_known += int((adjacency.argmax(1) == task.strangers).sum())
                n_pairs += len(adjacency)
        found = {
            "masked_loss": loss / n_asked,
            "masked_accuracy": n_right / n_asked,
            "masked_perplexity": perplexity(loss / n_asked),
        }
        if not n_pairs:
            return found
        ratio = float(self.text.held_out_sequences.follows.mean())
        return {**found, "adjacent_accuracy": n_known / n_pairs, "adjacent_ratio": ratio}

    def pretrained(self, provenance: dict[str, Any]) -> Pretrained:
        if self.recipe.centred:
            centre(self.module.encoder, self.module.heads, self._some())
        return Pretrained(self.tokenizer, self.module.encoder.eval(), provenance, self.module.heads.eval())

    def _read(self, pieces: NDArray[np.uint32], sequences: Sequences) -> Examples:
        return read(pieces, sequences, self.recipe.adjacent, self.tokenizer.id_of("cls"), self.tokenizer.id_of("sep"))

    def _some(self) -> Iterator[Batch]:
        """What is read at a few steps, with nothing hidden."""
        for step in range(max(0, self.n_steps - _CENTRED), self.n_steps):
            examples = self._read(self.text.pieces, self.text.phases.step(step))
            none: Ids = np.zeros(0, np.int64)
            yield from (task.batch for task in self._parts(examples, Masked(examples.ids, none, none)))

    def _starts(self, step: int, examples: Examples, rng: np.random.Generator) -> Ids | None:
        """Where sequences begin: before long ones come at any place, if it is asked for, so that none is new then."""
        phases = self.text.phases
        if not self.recipe.shifted or phases.is_long(step):
            return None
        return rng.integers(0, phases.longest - examples.lengths + 1)

    def _parts(self, examples: Examples, masked: Masked, starts: Ids | None = None) -> list[Task]:
        return [
            Task.of(examples, masked, first, last, starts)
            for first, last in _groups(examples, self.recipe.positions_at_once)
        ]

    @cached_property
    def _held_out(self) -> list[Task]:
        """Whatever a model learns at, it is measured at 15 %, single pieces, 80/10/10: other losses do not compare."""
        examples = self._read(self.text.held_out, self.text.held_out_sequences)
        noise = replace(self._noise, masked=Noise.masked, random=Noise.random)
        return self._parts(examples, mask(examples, Rates(), noise, False, _rng(0)))

    @cached_property
    def _noise(self) -> Noise:
        vocabulary, settings = self.tokenizer.backend.get_vocab(), self.tokenizer.settings
        special = {special_piece(settings, name) for name in SPECIAL}
        ordinary: Ids = np.array(sorted(number for piece, number in vocabulary.items() if piece not in special))
        return Noise(self.tokenizer.id_of("mask"), ordinary, self.recipe.masked, self.recipe.random)


def rates_at(recipe: BertRecipe, part: float) -> Rates:
    """How much is predicted and corrupted when that part of the steps is done."""
    predict = _between(recipe.predict, recipe.predict_end, part)
    corrupt = predict if recipe.corrupt is None else _between(recipe.corrupt, recipe.corrupt_end, part)
    return Rates(predict, corrupt)


def _between(start: float, end: float | None, part: float) -> float:
    return start if end is None else start + (end - start) * part


def _rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def _groups(examples: Examples, most: int) -> Iterator[tuple[int, int]]:
    """Sequences from first to last that have at most so many positions together, or a single one."""
    first, n_sequences = 0, len(examples.follows)
    while first < n_sequences:
        last = int(np.searchsorted(examples.offsets, examples.offsets[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last
