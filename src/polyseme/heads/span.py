"""The span of words that answers a question."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.heads.head import Features, Head
from polyseme.layers.pool import logsumexp

_LONGEST = 30  # words of an answer


class Found(NamedTuple):
    """words[start:end] of a sequence; the score is the sum of the logits of its first and its last word."""

    sequence: int
    start: int
    end: int
    score: float


class Span(Head):
    """Where answers start and end, each a softmax over the words of a text (Devlin et al. 2019).

    Targets are (texts, 2): the answer is words[start:end], and -1, -1 says that it is not in this text. Such texts are
    left out of the loss; with `no_answer` they are learned from: beside its words, each softmax has an entry for
    "none" with the fixed logit 0. A score then means the same in every text, and one below 0 says that there is none.
    """

    def __init__(self, width: int, dropout: float = 0.1, no_answer: bool = False) -> None:
        super().__init__()
        self.no_answer = no_answer
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(width, 2)

    def forward(self, features: Features) -> Tensor:
        """(rows, 2) for the first and for the last word"""
        logits: Tensor = self.out(self.drop(features.words))
        return logits

    def loss(self, logits: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        answered = _checked(targets, offsets)
        sums = logsumexp(logits, offsets)  # (texts, 2)
        places = (offsets[:-1].unsqueeze(1) + targets - targets.new_tensor([0, 1]))[answered]  # (answered, 2)
        costs = -logits.gather(0, places)
        if not self.no_answer:
            return (costs + sums[answered]).sum() / max(1, costs.numel())
        return (costs.sum() + F.softplus(sums).sum()) / max(1, sums.numel())

    def decode(
        self,
        logits: Tensor,
        offsets: Tensor,
        allowed: Tensor | None = None,
        texts: Tensor | None = None,
        longest: int = _LONGEST,
    ) -> list[Found | None]:
        """The best span of each text; None where it has no word that is allowed.

        `allowed` (rows,) says which words may be answered with: those of the context. `texts` (sequences,), never
        falling, says which text each sequence is a window of, where a text has several: the best of them all counts.
        """
        if longest < 1:
            raise Mistake(f"longest={longest} allows no answer. Wanted: 1 word or more.")
        if not len(logits):
            return [None] * (len(offsets) - 1 if texts is None else _n_texts(texts))
        scores, n_more = _best_from(logits.detach(), offsets, allowed, longest)
        lengths = offsets.diff()
        if texts is not None:
            lengths = lengths.new_zeros(_n_texts(texts)).index_add_(0, texts, lengths)
        found, first = [], 0
        for part in scores.split_with_sizes(lengths.tolist()):
            found.append(_found(part, first, n_more, offsets))
            first += len(part)
        return found


def _checked(targets: Tensor, offsets: Tensor) -> Tensor:
    """(texts,) whether there is an answer."""
    start, end = targets.unbind(1)
    none, inside = (start == -1) & (end == -1), (start >= 0) & (start < end) & (end <= offsets.diff())
    if len(wrong := (~none & ~inside).nonzero()):
        text = int(wrong[0])
        raise Mistake(
            f"The answer to text {text} is words {targets[text].tolist()}; the text has {int(offsets.diff()[text])} "
            "words. Wanted: a start, and an end behind it, or -1 and -1 for none."
        )
    return inside


def _best_from(logits: Tensor, offsets: Tensor, allowed: Tensor | None, longest: int) -> tuple[Tensor, Tensor]:
    """(rows,) the score of the best span that starts at each row, and how many rows more it has."""
    n_rows = len(logits)
    steps = torch.arange(min(longest, int(offsets.diff().max())), device=logits.device)
    places = torch.arange(n_rows, device=logits.device).unsqueeze(1) + steps  # (rows, steps)
    open_to = places < offsets[1:].repeat_interleave(offsets.diff()).unsqueeze(1)
    places = places.clamp_(max=n_rows - 1)
    if allowed is not None:
        n_closed = (~allowed).cumsum(0)
        open_to &= n_closed[places] == (n_closed - (~allowed).long()).unsqueeze(1)  # none on the way
    scores = (logits[:, :1] + logits[:, 1][places]).masked_fill_(~open_to, -torch.inf)
    best = scores.max(1)
    return best.values, best.indices


def _found(scores: Tensor, first: int, n_more: Tensor, offsets: Tensor) -> Found | None:
    if not len(scores) or bool((best := scores.max(0)).values.isneginf()):
        return None
    row = first + int(best.indices)
    sequence = int(torch.searchsorted(offsets, row, right=True)) - 1
    start = row - int(offsets[sequence])
    return Found(sequence, start, start + int(n_more[row]) + 1, best.values.item())


def _n_texts(texts: Tensor) -> int:
    return int(texts[-1]) + 1 if len(texts) else 0
