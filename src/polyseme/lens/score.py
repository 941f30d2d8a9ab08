"""How likely a language model finds a text, sentence by sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch.nn import functional as F

from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoEncoder, direction
from polyseme.layers.softmax import Softmax
from polyseme.lens.ways import way_of
from polyseme.text.batches import groups, take, take_rows
from polyseme.text.characters import UNKNOWN, CharacterTokenizer
from polyseme.text.words import to_text
from polyseme.types import Batch, Packed, Text

_WINDOW, _BUDGET = 1024, 4096


@dataclass(frozen=True)
class Score:
    """The negative log-likelihood of one text under each way the model reads it, in nats."""

    text: Text
    nll: dict[str, float]  # "forward" and "backward"
    n_predicted: int  # words and the end of the sentence
    n_unknown: int  # words that only count as <UNK>, which is likelier than the word itself

    def perplexity(self, way: str | None = None) -> float:
        """Of one way, or of all of them together."""
        return math.exp(self._mean(way) / max(1, self.n_predicted))

    def bits_per_byte(self) -> float:
        return self._mean(None) / math.log(2) / max(1, len(self.text.string.encode(errors="replace")))

    def _mean(self, way: str | None) -> float:
        return self.nll[way] if way else sum(self.nll.values()) / len(self.nll)


def total(scores: Sequence[Score]) -> Score:
    """Many texts as one."""
    ways = scores[0].nll if scores else {}
    return Score(
        Text("\n".join(score.text.string for score in scores), ()),
        {way: sum(score.nll[way] for score in scores) for way in ways},
        sum(score.n_predicted for score in scores),
        sum(score.n_unknown for score in scores),
    )


def score(pretrained: Pretrained, texts: Iterable[str | Sequence[str]]) -> Iterator[Score]:
    """Each text's likelihood, always from the full softmax, each text on its own."""
    of_window = way_of(pretrained, _SCORERS, "score text")
    waiting = iter(texts)
    while window := [to_text(text) for text in islice(waiting, _WINDOW)]:
        with torch.inference_mode():
            yield from of_window(pretrained, window)


def _score_elmo(pretrained: Pretrained, window: list[Text]) -> list[Score]:
    encoder, softmax, tokenizer = pretrained.encoder, pretrained.lm, pretrained.tokenizer
    assert isinstance(encoder, ElmoEncoder)
    assert isinstance(softmax, Softmax)
    assert isinstance(tokenizer, CharacterTokenizer)
    encoder.eval()
    whole = tokenizer.encode(window)
    numbers = tokenizer.numbers(tokenizer.pieces(whole))  # (positions,) in the vocabulary
    unknown = int(tokenizer.numbers([UNKNOWN]))
    found: list[Score | None] = [None] * len(window)
    for group in groups(whole.lengths, _BUDGET):
        batch = take(whole, group)
        targets = take_rows(Packed(numbers, whole.offsets), group).values
        losses = _both_losses(encoder, softmax, batch, targets)
        for place, sequence in enumerate(group.tolist()):
            rows = slice(int(batch.offsets[place]), int(batch.offsets[place + 1]))
            nll = {way: float(loss[rows].sum()) for way, loss in losses.items()}
            n_unknown = int((targets[rows] == unknown).sum())
            found[sequence] = Score(window[sequence], nll, rows.stop - rows.start - 1, n_unknown)
    return [one for one in found if one is not None]


def _both_losses(
    encoder: ElmoEncoder, softmax: Softmax, batch: Batch, targets: torch.Tensor
) -> dict[str, torch.Tensor]:
    """The loss of predicting each position from what stands before it, and from what stands behind it."""
    encoding = encoder(batch)
    losses = {}
    for way, shift in (("forward", 1), ("backward", -1)):
        top = direction(encoding, "forward" if shift > 0 else "backward").layers[-1]
        inner = torch.ones(len(targets), dtype=torch.bool)  # positions that something of their sequence predicts
        inner[batch.offsets[:-1] if shift > 0 else batch.offsets[1:] - 1] = False
        predicted = inner.nonzero().flatten()
        loss = torch.zeros(len(targets))
        for part in torch.split(predicted, 512):  # bounds the logits: 512 x vocabulary
            loss[part] = F.cross_entropy(softmax(top[part - shift]), targets[part], reduction="none")
        losses[way] = loss
    return losses


_SCORERS = {"elmo": _score_elmo}
