"""The sum over all paths of tags, with the forward and the backward recurrence in one loop.

Autograd through the forward recurrence would walk the loop back, with several small products a step. Here both
recurrences run side by side as one batch, and all gradients are marginals of them, found for all rows at once.
"""

from typing import Any

import torch
from torch import Tensor

from polyseme.layers.time_major import TimeMajor, sequences_of
from polyseme.types import mirrored


def log_partition(scores: Tensor, offsets: Tensor, follow: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """(sequences,) the logarithm of the sum over all paths; 0 for a sequence without rows.

    `scores` are (rows, tags), `follow` (tags, tags) from and to; -inf forbids, but some path must stay.
    """
    sums: Tensor = _LogPartition.apply(scores, follow, start, end, offsets)  # type: ignore[no-untyped-call]
    return sums


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, follow: Tensor, start: Tensor, end: Tensor, offsets: Tensor) -> Tensor:
        until, since = _both_ways(scores, offsets, follow, start, end)
        filled = offsets.diff() > 0
        sums = scores.new_zeros(len(filled))
        sums[filled] = (until[offsets[1:][filled] - 1] + end).logsumexp(1)
        ctx.save_for_backward(scores, until, since, follow, offsets)
        return sums

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        scores, until, since, follow, offsets = ctx.saved_tensors
        sequences, filled = sequences_of(offsets), offsets.diff() > 0
        # chances by softmax, not by subtracting the long sequences' sums, where few digits are left behind the point
        chances = (until + since - scores).softmax(1)  # (rows, tags): both ways count the row's own score
        chances.mul_(grad[sequences].unsqueeze(1))
        first, last = offsets[:-1][filled], offsets[1:][filled] - 1
        inside = (sequences[1:] == sequences[:-1]).nonzero().flatten()
        steps = _steps(until[inside], since[inside + 1], follow, grad[sequences[inside]])
        return chances, steps, chances[first].sum(0), chances[last].sum(0), None


def _steps(until: Tensor, since: Tensor, follow: Tensor, weights: Tensor) -> Tensor:
    """(tags, tags) how often one tag is followed by another, over all rows and the rows after them.

    As products of exponentials it takes no memory for rows x tags x tags. In double precision they hold for scores
    that differ by up to 700; a row beyond that counts for nothing.
    """
    before, after, step = _exponentials(until), _exponentials(since), (follow - follow.max()).double().exp()
    sums = (before @ step * after).sum(1).clamp_(min=torch.finfo(torch.double).tiny)
    return (step * (before.t() @ (after * (weights / sums).unsqueeze(1)))).to(follow.dtype)


def _exponentials(logs: Tensor) -> Tensor:
    return (logs - logs.amax(1, keepdim=True)).double().exp_()


def _both_ways(scores: Tensor, offsets: Tensor, follow: Tensor, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """(rows, tags) each: the log sum of all paths from the start to here, and of all from here to the end."""
    if not len(scores):
        return scores, scores
    order = TimeMajor.of(offsets)
    mirror = mirrored(offsets)[order.rows]
    rows = torch.stack([scores[order.rows], scores[mirror]], 1)  # (rows, 2, tags)
    into = torch.stack([follow.t(), follow])  # (2, to, from): the sum is over what lies side by side
    first, *steps = rows.split_with_sizes(order.sizes)
    found = [first + torch.stack([start, end])]
    for step in steps:
        found.append((found[-1][: len(step)].unsqueeze(2) + into).logsumexp(3).add_(step))
    both = torch.cat(found)
    until = torch.empty_like(scores).index_copy_(0, order.rows, both[:, 0])
    return until, torch.empty_like(scores).index_copy_(0, mirror, both[:, 1])
