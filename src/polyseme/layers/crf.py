"""A linear-chain CRF over packed rows (Lafferty et al. 2001): tags of a sequence are scored together."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from polyseme.errors import Mistake
from polyseme.layers.partition import log_partition
from polyseme.layers.time_major import TimeMajor, sequences_of


@dataclass(frozen=True)
class Chain:
    """What is added to the scores of a path; -inf forbids."""

    follow: Tensor  # (tags, tags) from, to
    start: Tensor  # (tags,)
    end: Tensor  # (tags,)


@dataclass(frozen=True)
class Allowed:
    """Which tags may follow which, begin a sequence and end one."""

    follow: Tensor  # (tags, tags) bool: from, to
    start: Tensor  # (tags,) bool
    end: Tensor  # (tags,) bool

    def of(self, chain: Chain) -> Chain:
        """The chain without what is not allowed."""
        parts = ((self.follow, chain.follow), (self.start, chain.start), (self.end, chain.end))
        return Chain(*(scores.masked_fill(~allowed.to(scores.device), -torch.inf) for allowed, scores in parts))


class Crf(nn.Module):
    """Scores of a tag after another, at the start and at the end, all 0 at first.

    What is not allowed is forbidden in training too: then no probability is spent on it (Papay et al. 2022).
    """

    def __init__(self, n_tags: int, allowed: Allowed | None = None) -> None:
        super().__init__()
        self.follow = nn.Parameter(torch.zeros(n_tags, n_tags))
        self.start = nn.Parameter(torch.zeros(n_tags))
        self.end = nn.Parameter(torch.zeros(n_tags))
        for name, parameter in list(self.named_parameters()):
            mask = torch.ones_like(parameter, dtype=torch.bool) if allowed is None else getattr(allowed, name)
            if mask.shape != parameter.shape or mask.dtype != torch.bool:
                raise Mistake(
                    f"allowed.{name} is {mask.dtype} of shape {tuple(mask.shape)}; wanted torch.bool of "
                    f"{tuple(parameter.shape)} for {n_tags} tags."
                )
            self.register_buffer(f"allowed_{name}", mask, persistent=False)  # known from the tags, not learned

    def nll(self, scores: Tensor, tags: Tensor, offsets: Tensor) -> Tensor:
        """The mean negative log-likelihood of a sequence's tags; a sequence without rows says nothing and is left out.

        `scores` are (rows, tags), `tags` (rows,).
        """
        chain = self.chain()
        scores = scores.log_softmax(1)  # the same likelihood from smaller sums, so that long sequences stay exact
        paths = path_scores(scores, tags, offsets, chain)
        if bool(paths.isneginf().any()):
            raise Mistake(_forbidden(int(paths.isneginf().nonzero()[0]), tags, offsets))
        sums = log_partition(scores, offsets, chain.follow, chain.start, chain.end)
        return (sums - paths).sum() / (offsets.diff() > 0).sum().clamp(min=1)

    def best(self, scores: Tensor, offsets: Tensor) -> Tensor:
        """(rows,) the likeliest tags of each sequence."""
        return viterbi(scores, offsets, self.chain())

    def chain(self) -> Chain:
        allowed = Allowed(*(self.get_buffer(f"allowed_{name}") for name in ("follow", "start", "end")))
        return allowed.of(Chain(self.follow, self.start, self.end))


def path_scores(scores: Tensor, tags: Tensor, offsets: Tensor, chain: Chain) -> Tensor:
    """(sequences,) the score of each sequence's own tags."""
    rows = scores.gather(1, tags.unsqueeze(1)).squeeze(1)
    sequences, filled = sequences_of(offsets), offsets.diff() > 0
    inside = sequences[1:] == sequences[:-1]
    steps = chain.follow[tags[:-1][inside], tags[1:][inside]]
    first, last = tags[offsets[:-1][filled]], tags[offsets[1:][filled] - 1]
    paths = scores.new_zeros(len(filled)).index_add(0, sequences, rows)
    paths = paths.index_add(0, sequences[1:][inside], steps)
    return paths.index_add(0, filled.nonzero().flatten(), chain.start[first] + chain.end[last])


@torch.no_grad()
def viterbi(scores: Tensor, offsets: Tensor, chain: Chain) -> Tensor:
    """(rows,) the tags of each sequence's best path."""
    if not len(scores):
        return offsets.new_zeros(0)
    order = TimeMajor.of(offsets)
    ends, pointers = _forward(scores[order.rows], order.sizes, chain)
    best, tags = (ends + chain.end).max(1)  # of each sequence with rows, longest first
    if bool(best.isneginf().any()):
        length = int(offsets.diff()[order.sequences[int(best.isneginf().nonzero()[0])]])
        raise Mistake(f"No tags are allowed for a sequence of {length} words. Loosen what is allowed.")
    found = _back(tags, pointers, order.sizes)
    return torch.empty_like(found).index_copy_(0, order.rows, found)


def _forward(rows: Tensor, sizes: list[int], chain: Chain) -> tuple[Tensor, list[Tensor]]:
    """The best score of a path to each tag of each sequence's last row, and each later step's best tag before."""
    first, *steps = rows.split_with_sizes(sizes)
    best, ended, pointers = first + chain.start, list[Tensor](), list[Tensor]()
    into = chain.follow.t().contiguous()  # (to, from): the maximum is over what lies side by side
    for step in steps:
        ended.append(best[len(step) :])
        best, before = (best[: len(step)].unsqueeze(1) + into).max(2)  # (sequences, tags)
        best = best + step
        pointers.append(before)
    return torch.cat([best, *reversed(ended)]), pointers


def _back(tags: Tensor, pointers: list[Tensor], sizes: list[int]) -> Tensor:
    """All tags, step by step, from the last one of each sequence."""
    now = tags[: sizes[-1]]
    found = [now]
    for before, size in zip(reversed(pointers), reversed(sizes[:-1]), strict=True):
        earlier = before.gather(1, now.unsqueeze(1)).squeeze(1)
        now = torch.cat([earlier, tags[len(earlier) : size]])
        found.append(now)
    return torch.cat(found[::-1])


def _forbidden(sequence: int, tags: Tensor, offsets: Tensor) -> str:
    own = tags[offsets[sequence] : offsets[sequence + 1]].tolist()
    return (
        f"Sequence {sequence} has the tags {own[:20]}{' …' if len(own) > 20 else ''}, which the rules forbid. Bring "
        "them into the scheme of the rules, or leave the rules out."
    )
