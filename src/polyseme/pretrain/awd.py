"""ULMFiT's objective: an AWD-LSTM that predicts the next piece, with penalties on what its last layer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmEncoder, TiedDecoder
from polyseme.encoders.awd_pair import pair
from polyseme.layers.softmax import Ranking, full_loss, losses, perplexity, sampled_loss
from polyseme.pretrain.measuring import steps_between
from polyseme.pretrain.recipes import AwdRecipe
from polyseme.pretrain.state import forgotten
from polyseme.pretrain.stream import HeldOut, Stream, Window
from polyseme.text.marked import MarkedWords
from polyseme.types import Batch, Encoding, State


class LanguageModel(nn.Module):
    """What learns: an encoder of one direction and the output layer tied to it."""

    def __init__(self, encoder: AwdLstmEncoder, decoder: TiedDecoder) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, window: Window, state: State | None) -> tuple[Encoding, State]:
        """All layers at each place, and the state after the last one, which carries no gradient on."""
        encoding = self.encoder(_batch(window), state)
        return encoding, tuple(part.detach() for part in encoding.state or ())


@dataclass(frozen=True, eq=False)
class Direction:
    """A way of reading: the model that learns it, and its text."""

    backward: bool
    model: LanguageModel
    text: Stream
    held_out: HeldOut

    @property
    def name(self) -> str:
        return "backward" if self.backward else "forward"


class AwdObjective:
    """The negative log-likelihood of the next piece, over rows whose state is carried on.

    Two directions are two models that share nothing but their words; their losses are added, so that each learns as it
    would alone (except where the common norm of their gradients is clipped).
    """

    def __init__(
        self, recipe: AwdRecipe, directions: Sequence[Direction], words: tuple[str, ...], ranking: Ranking,
        facts: dict[str, Any],
    ) -> None:  # fmt: skip
        self.recipe, self.directions, self.words, self.facts = recipe, tuple(directions), words, facts
        self.ranking = ranking
        self.module = nn.ModuleList(one.model for one in directions).train()
        self.steps_an_epoch = directions[0].text.steps_an_epoch
        self.n_steps = recipe.steps or recipe.epochs * self.steps_an_epoch
        self.words_a_step = recipe.rows * recipe.bptt
        self.evaluate_every = steps_between(self, len(directions[0].held_out.text.ids), recipe.optimizer)

    def loss(self, step: int, state: State | None) -> tuple[Tensor, State]:
        state = None if state is None else forgotten(state, self.recipe.reset)
        losses, after = [], list[Tensor]()
        for one, before in zip(self.directions, self._shares(state), strict=True):
            loss, new = self._one_loss(one, one.text.window(step), before)
            losses.append(loss)
            after += new
        return torch.stack(losses).sum(), tuple(after)

    def pace(self, step: int) -> float:
        """A short window says less than a long one, so it may move the weights less."""
        return self.directions[0].text.length(step) / self.recipe.bptt

    def factors(self) -> list[tuple[nn.Module, float]]:
        """The rate of each LSTM layer against that of the one above it; the tied words learn at the full rate.

        The words are the output layer, too: fastai puts them into the top group of a language model.
        """
        lstms = [one.model.encoder.blocks()[1:] for one in self.directions]
        below = self.recipe.discriminative
        return [
            (lstm, below ** -(len(layers) - 1 - depth))
            for layers in lstms
            for depth, lstm in enumerate(layers)
            if below != 1
        ]

    def evaluate(self) -> dict[str, float]:
        """The perplexity on the text held out, from the full softmax; of two directions, the geometric mean."""
        means = {one.name: _mean_nll(one) for one in self.directions}
        each = {f"{name}_perplexity": perplexity(mean) for name, mean in means.items()} if len(means) > 1 else {}
        return {**each, "perplexity": perplexity(sum(means.values()) / len(means))}

    def pretrained(self, provenance: dict[str, Any]) -> Pretrained:
        models = [
            Pretrained(
                MarkedWords(self.words, one.backward), one.model.encoder.eval(), provenance, one.model.decoder.eval()
            )
            for one in self.directions
        ]
        return models[0] if len(models) == 1 else replace(pair(*models), provenance=provenance)

    def _one_loss(self, one: Direction, window: Window, state: State | None) -> tuple[Tensor, State]:
        encoding, after = one.model(window, state)
        raw, dropped = encoding.layers[-1], one.model.decoder.drop(encoding)
        targets = torch.from_numpy(window.targets).flatten()
        weight, bias, n_samples = one.model.encoder.embedding.weight, one.model.decoder.bias, self.recipe.n_samples
        if self.recipe.loss == "sampled" and n_samples < len(weight):
            loss = sampled_loss(dropped, weight, bias, targets, n_samples, self.ranking)
        else:
            loss = full_loss(dropped, weight, bias, targets)
        steadiness = temporal_penalty(raw.view(*window.inputs.shape, -1))
        return loss + self.recipe.ar * activation_penalty(dropped) + self.recipe.tar * steadiness, after

    def _shares(self, state: State | None) -> list[State | None]:
        """Each direction's part of the state."""
        if state is None:
            return [None] * len(self.directions)
        n = len(state) // len(self.directions)
        return [state[start : start + n] for start in range(0, len(state), n)]


def activation_penalty(dropped: Tensor) -> Tensor:
    """AR: how large the last layer's vectors are, behind their dropout."""
    return dropped.square().mean()


def temporal_penalty(raw: Tensor) -> Tensor:
    """TAR: how much the last layer's vectors, (rows, length, width) without dropout, change from step to step."""
    return (raw[:, 1:] - raw[:, :-1]).square().mean()


def _mean_nll(one: Direction) -> float:
    """Of a piece of the text held out, with the state carried on from window to window."""
    total, n_places = 0.0, 0
    state: State | None = None
    encoder, decoder = one.model.encoder, one.model.decoder
    for step in range(one.held_out.n_steps):
        window = one.held_out.window(step)
        encoding, state = one.model(window, state)
        real = torch.from_numpy(window.real).flatten()
        targets = torch.from_numpy(window.targets).flatten()[real]
        found = losses(lambda rows: decoder(rows, encoder), encoding.layers[-1][real], targets)
        total += found.double().sum().item()
        n_places += int(real.sum())
    return total / n_places


def _batch(window: Window) -> Batch:
    """Rows of a stream as sequences; to the encoder every piece is a word."""
    n_rows, length = window.inputs.shape
    return Batch(
        ids=torch.from_numpy(np.ascontiguousarray(window.inputs)).flatten(),
        offsets=torch.arange(n_rows + 1) * length,
        words=torch.arange(length).repeat(n_rows),
        n_words=torch.full((n_rows,), length),
        texts=torch.arange(n_rows),
    )
