"""Masked words: which positions are predicted, which are corrupted, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polyseme.pretrain.examples import Examples, Flags
from polyseme.pretrain.pairs import Ids

Whole = Literal[False, "word", "span"]

SPAN_STOP, SPAN_MOST = 0.2, 10  # SpanBERT (Joshi et al. 2020): a span ends behind each word with this chance; words


@dataclass(frozen=True)
class Rates:
    """Two knobs (Wettig et al. 2022): how many positions are predicted, and how many are not shown as they are.

    The smaller share lies within the larger one: with more predicted than corrupted, the rest is seen as it is; with
    more corrupted than predicted, the rest is lost to the model and not asked for. The defaults are the paper's.
    """

    predict: float = 0.15
    corrupt: float = 0.15


@dataclass(frozen=True)
class Noise:
    """What a corrupted position shows."""

    mask: int  # the piece [MASK]
    ordinary: Ids  # the pieces that are drawn from
    masked: float = 0.8
    random: float = 0.1  # the rest stays, so that a model cannot trust what it sees


@dataclass(frozen=True)
class Masked:
    """A task to fill in."""

    ids: Ids  # (positions,) what is shown
    places: Ids  # (predicted,) the positions that are asked for, rising
    targets: Ids  # (predicted,) what stood there


def mask(examples: Examples, rates: Rates, noise: Noise, whole: Whole, rng: np.random.Generator) -> Masked:
    """Hide a part of each sequence; special pieces are neither corrupted nor predicted."""
    chosen = _choose(examples, ~examples.special, max(rates.predict, rates.corrupt), whole, rng)
    less = chosen
    if rates.predict != rates.corrupt:
        less = _choose(examples, chosen >= 0, min(rates.predict, rates.corrupt), whole, rng)
    predicted, corrupted = (chosen, less) if rates.predict > rates.corrupt else (less, chosen)
    places = np.flatnonzero(predicted >= 0)
    return Masked(_corrupt(examples.ids, corrupted, noise, rng), places, examples.ids[places])


def n_wanted(lengths: Ids, rate: float) -> Ids:
    """How many positions of each sequence are chosen, special ones counted too (as in the paper's code): at least one.

    >>> n_wanted(np.array([4, 10, 128]), 0.15).tolist()
    [1, 2, 19]
    """
    wanted: Ids = np.maximum(np.rint(lengths * rate), rate > 0).astype(np.int64)
    return wanted


def span_lengths(n: int, rng: np.random.Generator) -> Ids:
    """Geometric numbers of words, none above SPAN_MOST: 3.8 on the average."""
    chances = (1 - SPAN_STOP) ** np.arange(SPAN_MOST)
    ends = chances.cumsum()
    return np.searchsorted(ends / ends[-1], rng.random(n), side="right") + np.int64(1)


def _choose(examples: Examples, allowed: Flags, rate: float, whole: Whole, rng: np.random.Generator) -> Ids:
    """(positions,): -1, or for those chosen a number; equal numbers are corrupted alike."""
    wanted = n_wanted(examples.lengths, rate)
    if not whole:
        return _numbered(_positions(examples.sequence, allowed, wanted, rng))
    first = np.flatnonzero(examples.begins)  # of each word
    words = _Words(
        sequence=examples.sequence[first],
        size=np.diff(first, append=len(examples.ids)),
        allowed=allowed[first],
    )
    within: Ids = examples.begins.cumsum() - 1  # (positions,) which word
    if whole == "word":
        return _numbered(_whole_words(words, wanted, rng)[within])
    return _spans(words, wanted, rng)[within]


def _numbered(chosen: Flags) -> Ids:
    numbers: Ids = np.where(chosen, np.arange(len(chosen)), -1)
    return numbers


def _positions(sequence: Ids, allowed: Flags, wanted: Ids, rng: np.random.Generator) -> Flags:
    """As many of each sequence as are wanted, every one as likely as every other."""
    order = _shuffled(np.flatnonzero(allowed), sequence, rng)
    chosen = np.zeros(len(allowed), np.bool_)
    chosen[order[_rank(sequence[order]) < wanted[sequence[order]]]] = True
    return chosen


@dataclass(frozen=True)
class _Words:
    """All (words,)."""

    sequence: Ids
    size: Ids  # pieces
    allowed: Flags


def _whole_words(words: _Words, wanted: Ids, rng: np.random.Generator) -> Flags:
    """Words in random order, one of each sequence at a time; one that has more pieces than are left is passed over."""
    order = _shuffled(np.flatnonzero(words.allowed), words.sequence, rng)
    sequence, left = words.sequence[order], wanted.copy()
    turns = np.full((int(_rank(sequence).max(initial=0)) + 1, len(wanted)), -1)
    turns[_rank(sequence), sequence] = order
    chosen = np.zeros(len(words.size), np.bool_)
    for turn in turns:
        there = np.flatnonzero((turn >= 0) & (words.size[turn] <= left))
        chosen[turn[there]] = True
        left[there] -= words.size[turn[there]]
        if not left.any():
            break
    return chosen


def _spans(words: _Words, wanted: Ids, rng: np.random.Generator) -> Ids:
    """(words,): the number of the span each is in, or -1. A span ends before a word that is taken or has no room."""
    free, left = words.allowed.copy(), wanted.copy()
    span, n_spans = np.full(len(free), -1), 0
    while len(candidates := np.flatnonzero(free & (words.size <= left[words.sequence]))):
        order = _shuffled(candidates, words.sequence, rng)
        start = order[_rank(words.sequence[order]) == 0]  # one in each sequence that has room
        sequence, lengths = words.sequence[start], span_lengths(len(start), rng)
        going = np.ones(len(start), np.bool_)
        for more in range(SPAN_MOST):
            word = np.minimum(start + more, len(free) - 1)
            going &= (more < lengths) & (start + more < len(free)) & free[word]
            going &= (words.sequence[word] == sequence) & (words.size[word] <= left[sequence])
            taken = word[going]
            free[taken] = False
            span[taken] = n_spans + np.flatnonzero(going)
            left[sequence[going]] -= words.size[taken]
        n_spans += len(start)
    return span


def _shuffled(candidates: Ids, sequence: Ids, rng: np.random.Generator) -> Ids:
    """In random order within each sequence."""
    order: Ids = candidates[np.argsort(sequence[candidates] + rng.random(len(candidates)))]
    return order


def _rank(groups: NDArray[np.int64]) -> Ids:
    """The place of each element in its group; groups stand together.

    >>> _rank(np.array([0, 0, 2, 2, 2])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return np.arange(len(groups)) - starts.repeat(np.diff(starts, append=len(groups)))


def _corrupt(ids: Ids, chosen: Ids, noise: Noise, rng: np.random.Generator) -> Ids:
    places = np.flatnonzero(chosen >= 0)
    fate = rng.random(int(chosen.max(initial=-1)) + 1)[chosen[places]]
    drawn = noise.ordinary[rng.integers(0, len(noise.ordinary), len(places))]
    shown = ids.copy()
    kept = np.where(fate < noise.masked + noise.random, drawn, ids[places])
    shown[places] = np.where(fate < noise.masked, noise.mask, kept)
    return shown
