"""ELMo's objective: a forward and a backward language model that share their token encoder and their softmax."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import BiLstm, ElmoEncoder
from polyseme.layers.softmax import Ranking, Softmax, losses, perplexity
from polyseme.pretrain.measuring import steps_between
from polyseme.pretrain.recipes import ElmoRecipe
from polyseme.pretrain.rows import Rows, Window
from polyseme.pretrain.state import forgotten
from polyseme.text.batches import take_rows
from polyseme.text.characters import MARKERS, CharacterTokenizer, spell
from polyseme.types import Packed, State


class BiLm(nn.Module):
    """What learns: the encoder and the softmax on top of both its directions."""

    def __init__(self, encoder: ElmoEncoder, softmax: Softmax) -> None:
        super().__init__()
        self.encoder, self.softmax = encoder, softmax

    def forward(self, window: Window, spellings: Packed, state: State) -> tuple[Tensor, State]:
        """What both directions say at each place, (2, unroll, rows, width), and the state after the last one."""
        types = torch.from_numpy(window.forward), torch.from_numpy(window.backward)
        distinct, places = torch.unique(torch.stack(types), return_inverse=True)
        words = self.encoder.words(take_rows(spellings, distinct))  # (distinct words, width)
        outputs, after = [], []
        for direction in (0, 1):
            begin = direction * len(state) // 2
            vectors = F.embedding(places[direction], words)  # indexing adds up gradients in any order
            output, new = self._one_direction(vectors, direction, state[begin : begin + len(state) // 2])
            outputs.append(output)
            after += new
        return torch.stack(outputs), tuple(after)

    def _one_direction(self, vectors: Tensor, direction: int, state: State) -> tuple[Tensor, list[Tensor]]:
        after: list[Tensor] = []
        for number, layer in enumerate(self.encoder.layers):
            assert isinstance(layer, BiLstm)
            lstm = (layer.ahead, layer.back)[direction]
            inputs = F.dropout(vectors, layer.dropout, self.training)
            outputs, hidden, cell = lstm.unrolled(inputs, state[2 * number], state[2 * number + 1])
            after += [hidden, cell]
            vectors = outputs + vectors if layer.skip else outputs
        return F.dropout(vectors, self.encoder.config.dropout, self.training), after


class ElmoObjective:
    """0.5 * (forward + backward negative log-likelihood), over rows whose state is carried on."""

    def __init__(
        self, recipe: ElmoRecipe, model: BiLm, tokenizer: CharacterTokenizer, text: Text, held_out: Text,
        ranking: Ranking, facts: dict[str, Any],
    ) -> None:  # fmt: skip
        self.ranking, self.facts = ranking, facts
        self.recipe, self.module, self.tokenizer, self.text, self.held_out = recipe, model, tokenizer, text, held_out
        self.steps_an_epoch = text.rows.steps_an_epoch
        self.n_steps = recipe.steps or recipe.epochs * self.steps_an_epoch
        self.words_a_step = recipe.rows * recipe.unroll
        self.evaluate_every = steps_between(self, held_out.rows.n_places, recipe.optimizer)

    def loss(self, step: int, state: State | None) -> tuple[Tensor, State]:
        window = self.text.rows.window(step)
        vectors, state = self.module(window, self.text.words.spellings, self._before(state))
        targets = self.text.targets(window).flatten()
        softmax, flat = self.module.softmax, vectors.flatten(0, 2)
        if self.recipe.loss == "sampled" and self.recipe.n_samples < len(softmax.weight):
            return softmax.sampled_loss(flat, targets, self.recipe.n_samples, self.ranking), state
        return softmax.loss(flat, targets), state

    def evaluate(self) -> dict[str, float]:
        """The perplexity of both directions on the text held out, from the full softmax."""
        rows, totals, n_places = self.held_out.rows, torch.zeros(2, dtype=torch.double), 0
        state = self._zeros(rows.n_rows)
        for step in range(rows.steps_an_epoch):
            window = rows.window(step)
            vectors, state = self.module(window, self.held_out.words.spellings, state)
            real = torch.from_numpy(window.real)
            targets = self.held_out.targets(window)
            for direction in (0, 1):
                found = losses(self.module.softmax, vectors[direction][real], targets[direction][real])
                totals[direction] += found.double().sum()
            n_places += int(real.sum())
        forward, backward = (totals / n_places).tolist()
        return {
            "forward_perplexity": perplexity(forward),
            "backward_perplexity": perplexity(backward),
            "perplexity": perplexity((forward + backward) / 2),
        }

    def pretrained(self, provenance: dict[str, Any]) -> Pretrained:
        return Pretrained(self.tokenizer, self.module.encoder.eval(), provenance, self.module.softmax.eval())

    def _before(self, state: State | None) -> State:
        """The state a step begins with: that after the last one, now and then forgotten by a row."""
        return self._zeros(self.recipe.rows) if state is None else forgotten(state, self.recipe.reset)

    def _zeros(self, n_rows: int) -> State:
        config = self.module.encoder.config
        widths = (config.width, config.cell_width) * config.n_layers * 2
        return tuple(torch.zeros(n_rows, width) for width in widths)


class WordTypes:
    """How each word type of a text is spelled, and which word of the vocabulary it is."""

    def __init__(self, types: Iterable[str], tokenizer: CharacterTokenizer) -> None:
        assert tokenizer.vocabulary is not None
        self.spellings = spell(types, tokenizer.max_characters)
        number = {word: place for place, word in enumerate(tokenizer.vocabulary)}
        markers = [number[MARKERS[0]], number[MARKERS[1]]]
        self.number = torch.tensor([*markers, *(number.get(word, number[MARKERS[2]]) for word in types)])


@dataclass(frozen=True)
class Text:
    """Rows of word types, and what these are."""

    rows: Rows
    words: WordTypes

    def targets(self, window: Window) -> Tensor:
        """(2, unroll, rows) words of the vocabulary."""
        types = torch.from_numpy(window.forward_targets), torch.from_numpy(window.backward_targets)
        return self.words.number[torch.stack(types)]
