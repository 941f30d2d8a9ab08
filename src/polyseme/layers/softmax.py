"""Which word of a large vocabulary comes next: the full softmax, and a sampled one that is cheap to train."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from polyseme.layers.dense import add_times, times
from polyseme.layers.start import normal_

_ROWS = 256  # whose logits stay in memory at once
_LOGITS = 1 << 25  # and of a very large vocabulary, so many, when no gradients are asked for


class Softmax(nn.Module):
    """A weight and a bias a word."""

    def __init__(self, width: int, n_words: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_words, width))
        self.bias = nn.Parameter(torch.zeros(n_words))
        normal_(self.weight, std=1 / math.sqrt(width))

    def forward(self, vectors: Tensor) -> Tensor:
        """Logits (positions, words)."""
        return times(vectors, self.weight, self.bias)

    def loss(self, vectors: Tensor, targets: Tensor) -> Tensor:
        """The mean negative log-likelihood of the targets under the full softmax."""
        return full_loss(vectors, self.weight, self.bias, targets)

    def sampled_loss(self, vectors: Tensor, targets: Tensor, n_samples: int, ranking: Ranking | None = None) -> Tensor:
        """The same against a few words."""
        return sampled_loss(vectors, self.weight, self.bias, targets, n_samples, ranking)


@dataclass(frozen=True)
class Ranking:
    """Words by falling frequency in the text that is learned from."""

    words: Tensor  # (words,) the one of each rank
    ranks: Tensor  # (words,) the rank of each one

    @classmethod
    def of(cls, counts: Tensor) -> Ranking:
        """
        >>> Ranking.of(torch.tensor([5, 0, 7])).ranks.tolist()
        [1, 2, 0]
        """
        words = counts.argsort(descending=True, stable=True)
        return cls(words, words.argsort())


def full_loss(vectors: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """The mean negative log-likelihood of the targets; the weight, a row a word, may be an embedding's."""
    if not torch.is_grad_enabled():
        return F.cross_entropy(times(vectors, weight, bias), targets)
    loss: Tensor = _FullLoss.apply(vectors, weight, bias, targets)  # type: ignore[no-untyped-call]
    return loss


def sampled_loss(
    vectors: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, n_samples: int, ranking: Ranking | None = None
) -> Tensor:
    """The same against a few words drawn log-uniformly (Jean et al. 2015): for training only, it is no perplexity.

    As in TensorFlow's sampled_softmax_loss: distinct samples, shared by all positions, logits corrected by the
    logarithm of how often each word was to be expected, a sample that is the target itself left out. Without a
    ranking, words stand by falling frequency.
    """
    samples, tries = log_uniform_samples(len(weight), n_samples)
    ranks = torch.cat([targets if ranking is None else ranking.ranks[targets], samples])
    likely = log_expected(ranks, len(weight), tries)
    if ranking is not None:
        samples = ranking.words[samples]
    loss: Tensor = _SampledLoss.apply(  # type: ignore[no-untyped-call]
        vectors, weight, bias, targets, samples, likely
    )
    return loss


def losses(logits: Callable[[Tensor], Tensor], vectors: Tensor, targets: Tensor) -> Tensor:
    """(rows,): each target's negative log-likelihood, some rows at a time, so that few logits are in memory at once."""
    first = logits(vectors[:1])
    n_rows = max(1, min(_ROWS, _LOGITS // first.shape[1]))
    parts = zip(torch.split(vectors, n_rows), torch.split(targets, n_rows), strict=True)
    return torch.cat([F.cross_entropy(logits(rows), wanted, reduction="none") for rows, wanted in parts])


class _FullLoss(torch.autograd.Function):
    """The loss and its gradients in one go, some rows at a time: all logits together are too much to go over thrice."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        n, loss = len(targets), vectors.new_zeros(())
        into = torch.empty_like(vectors), torch.zeros_like(weight), torch.zeros_like(bias)
        for start in range(0, n, _ROWS):
            rows, wanted = vectors[start : start + _ROWS], targets[start : start + _ROWS].unsqueeze(1)
            logs = times(rows, weight, bias).log_softmax(1)  # (rows, words)
            loss -= logs.gather(1, wanted).sum()
            errors = logs.exp_()  # the softmax, and then its difference from what was wanted
            errors.scatter_add_(1, wanted, errors.new_full(wanted.shape, -1.0))
            into[0][start : start + _ROWS] = times(errors, weight.t())
            add_times(into[1], errors.t(), rows.t())
            into[2].add_(errors.sum(0))
        ctx.save_for_backward(*into)
        ctx.n = n
        return loss / n

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return *(part * (grad / ctx.n) for part in ctx.saved_tensors), None


class _SampledLoss(torch.autograd.Function):
    """The loss against some words and its gradients in one go: the logits are gone over as seldom as can be."""

    @staticmethod
    def forward(
        ctx: Any, vectors: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, samples: Tensor, likely: Tensor
    ) -> Tensor:
        n, wanted, drawn = len(targets), weight[targets], weight[samples]
        true = (vectors * wanted).sum(1) + bias[targets] - likely[:n]  # (positions,)
        others = times(vectors, drawn, bias[samples] - likely[n:])  # (positions, samples)
        others[_hits(targets, samples)] = -torch.inf
        sums = torch.logaddexp(true, others.logsumexp(1))
        loss = (sums - true).mean()
        errors = others.sub_(sums.unsqueeze(1)).exp_()  # the softmax: what is too much at each sample
        missing = (true - sums).exp_().sub_(1)  # and too little at the target
        grad_vectors = times(errors, drawn.t()).addcmul_(missing.unsqueeze(1), wanted)
        rows = torch.cat([targets, samples])
        grad_rows = torch.cat([missing.unsqueeze(1) * vectors, times(errors.t(), vectors.t())])
        ctx.save_for_backward(grad_vectors, rows, grad_rows, torch.cat([missing, errors.sum(0)]))
        ctx.shape = weight.shape
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        grad_vectors, rows, grad_rows, grad_biases = ctx.saved_tensors
        scale = grad / len(grad_vectors)
        weight = grad_rows.new_zeros(ctx.shape).index_add_(0, rows, grad_rows * scale)
        bias = grad_rows.new_zeros(ctx.shape[0]).index_add_(0, rows, grad_biases * scale)
        return grad_vectors * scale, weight, bias, None, None, None


def _hits(targets: Tensor, samples: Tensor) -> tuple[Tensor, Tensor]:
    """Where a sample is the target itself: (positions, places among the samples)."""
    in_order, places = samples.sort()
    found = torch.searchsorted(in_order, targets).clamp_(max=len(samples) - 1)
    hit = in_order[found] == targets
    return hit.nonzero().flatten(), places[found[hit]]


def log_uniform_samples(n_words: int, n_samples: int) -> tuple[Tensor, int]:
    """Distinct word numbers, small ones likelier (Zipf), from torch's generator; and how many draws that took."""
    assert n_samples <= n_words
    found: dict[int, None] = {}
    tries = 0
    while len(found) < n_samples:
        uniform = torch.rand(n_samples, dtype=torch.double)
        drawn = (uniform * math.log(n_words + 1)).exp().long().sub_(1).clamp_(0, n_words - 1)
        for word in drawn.tolist():
            tries += 1
            found[word] = None
            if len(found) == n_samples:
                break
    return torch.tensor(list(found)), tries


def log_expected(words: Tensor, n_words: int, tries: int) -> Tensor:
    """The logarithm of the chance that each word is among the samples."""
    numbers = words.double()
    probability = ((numbers + 2) / (numbers + 1)).log() / math.log(n_words + 1)
    return (-torch.expm1(tries * torch.log1p(-probability))).log().float()


def perplexity(mean_nll: float) -> float:
    """Of a mean negative log-likelihood; a model that has gone astray has an infinite one.

    >>> perplexity(0.0), perplexity(1000.0)
    (1.0, inf)
    """
    try:
        return math.exp(mean_nll)
    except OverflowError:
        return math.inf
