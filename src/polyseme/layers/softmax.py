"""Which word of a large vocabulary comes next: the full softmax, and a sampled one that is cheap to train."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from polyseme.layers.start import normal_

_ROWS = 256  # whose logits stay in memory at once


class Softmax(nn.Module):
    """A weight and a bias a word. Its words must be sorted by falling frequency for the sampled loss to be fair."""

    def __init__(self, width: int, n_words: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_words, width))
        self.bias = nn.Parameter(torch.zeros(n_words))
        normal_(self.weight, std=1 / math.sqrt(width))

    def forward(self, vectors: Tensor) -> Tensor:
        """Logits (positions, words)."""
        return F.linear(vectors, self.weight, self.bias)

    def loss(self, vectors: Tensor, targets: Tensor) -> Tensor:
        """The mean negative log-likelihood of the targets under the full softmax."""
        if not torch.is_grad_enabled():
            return F.cross_entropy(self(vectors), targets)
        loss: Tensor = _FullLoss.apply(vectors, self.weight, self.bias, targets)  # type: ignore[no-untyped-call]
        return loss

    def sampled_loss(self, vectors: Tensor, targets: Tensor, n_samples: int) -> Tensor:
        """The same against a few words drawn log-uniformly (Jean et al. 2015): for training only, it is no perplexity.

        As in TensorFlow's sampled_softmax_loss: distinct samples, shared by all positions, logits corrected by the
        logarithm of how often each word was to be expected, a sample that is the target itself left out.
        """
        n_words = len(self.weight)
        samples, tries = log_uniform_samples(n_words, n_samples)
        rows = torch.cat([targets, samples])
        weight, bias = F.embedding(rows, self.weight), self.bias[rows]
        bias = bias - log_expected(rows, n_words, tries)
        n = len(targets)
        true = (vectors * weight[:n]).sum(1) + bias[:n]  # (positions,)
        others = F.linear(vectors, weight[n:], bias[n:])  # (positions, samples)
        others = others.masked_fill(targets.unsqueeze(1) == samples, -torch.inf)
        return (torch.logsumexp(torch.cat([true.unsqueeze(1), others], 1), 1) - true).mean()


class _FullLoss(torch.autograd.Function):
    """The loss and its gradients in one go, some rows at a time: all logits together are too much to go over thrice."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        n, loss = len(targets), vectors.new_zeros(())
        into = torch.empty_like(vectors), torch.zeros_like(weight), torch.zeros_like(bias)
        for start in range(0, n, _ROWS):
            rows, wanted = vectors[start : start + _ROWS], targets[start : start + _ROWS].unsqueeze(1)
            logs = torch.addmm(bias, rows, weight.t()).log_softmax(1)  # (rows, words)
            loss -= logs.gather(1, wanted).sum()
            errors = logs.exp_()  # the softmax, and then its difference from what was wanted
            errors.scatter_add_(1, wanted, errors.new_full(wanted.shape, -1.0))
            torch.mm(errors, weight, out=into[0][start : start + _ROWS])
            into[1].addmm_(errors.t(), rows)
            into[2].add_(errors.sum(0))
        ctx.save_for_backward(*into)
        ctx.n = n
        return loss / n

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return *(part * (grad / ctx.n) for part in ctx.saved_tensors), None


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
