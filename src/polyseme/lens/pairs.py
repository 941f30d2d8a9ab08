"""Minimal pairs: how often a language model finds the grammatical sentence likelier than the other one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.lens.in_context import Tell, silent
from polyseme.lens.score import score
from polyseme.tasks.intervals import share
from polyseme.tasks.minimal_pairs import MinimalPair
from polyseme.text.order import seed_for

ALL = "all"
_ROUNDING = 1e-5  # the share of a loss that other company in a batch may change


@dataclass(frozen=True)
class Paradigm:
    """The share of right pairs of one paradigm; of all, the mean over paradigms, as BLiMP has it."""

    paradigm: str
    accuracy: float
    low: float
    high: float
    n: int
    ways: dict[str, float]  # the same by each way of reading, where there are two
    unknown: float  # the share of pairs with a word the model only knows as the unknown one


def minimal_pairs(
    pretrained: Pretrained, pairs: Sequence[MinimalPair], within_word: bool = False, tell: Tell = silent
) -> list[Paradigm]:
    """Each paradigm in the order it comes, and then all of them. Sentences are compared by their whole likelihood.

    Of two that are equally likely, as they are where a model knows neither word that differs, and in the seven pairs of
    BLiMP whose sentences are the same, none is found.
    """
    if not pairs:
        raise Mistake("There are no pairs of sentences to compare.")
    losses, ways, unknown = _losses(pretrained, pairs, within_word, tell)
    right = _likelier(*losses)  # (pairs, ways)
    together = _likelier(*losses.sum(2))
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        places[pair.paradigm].append(place)
    found = []
    for name, of_it in places.items():
        accuracy = share(int(together[of_it].sum()), len(of_it))
        apart = dict(zip(ways, right[of_it].mean(0).tolist(), strict=True)) if len(ways) > 1 else {}
        found.append(Paradigm(name, *accuracy, len(of_it), apart, float(unknown[of_it].mean())))
    return [*found, _all(found)]


def chosen(pairs: Sequence[MinimalPair], limit: int | None, seed: int = 0) -> list[MinimalPair]:
    """At most so many of each paradigm, chosen by the seed."""
    if limit is None:
        return list(pairs)
    of_each: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        of_each[pair.paradigm].append((seed_for(seed, place), place))
    kept = sorted(place for draws in of_each.values() for _, place in sorted(draws)[:limit])
    return [pairs[place] for place in kept]


def _losses(
    pretrained: Pretrained, pairs: Sequence[MinimalPair], within_word: bool, tell: Tell
) -> tuple[NDArray[np.float64], list[str], NDArray[np.bool_]]:
    """(2, pairs, ways) of the good and the bad sentences; the ways; (pairs,) whether a word in either is unknown."""
    wanted = [*(pair.good for pair in pairs), *(pair.bad for pair in pairs)]
    texts, found = list(dict.fromkeys(wanted)), {}
    for text, one in zip(texts, score(pretrained, texts, within_word), strict=True):
        found[text] = one
        tell(len(found), len(texts))
    scores = [found[text] for text in wanted]
    ways = list(scores[0].nll)
    losses = np.array([[one.nll[way] for way in ways] for one in scores])
    unknown: NDArray[np.bool_] = np.array([one.n_unknown > 0 for one in scores])
    return losses.reshape(2, len(pairs), len(ways)), ways, unknown[: len(pairs)] | unknown[len(pairs) :]


def _likelier(good: NDArray[np.float64], bad: NDArray[np.float64]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = good < bad * (1 - _ROUNDING)
    return found


def _all(found: list[Paradigm]) -> Paradigm:
    """The mean over paradigms; its interval is that of the pairs, the paradigms taken as they are."""
    n, accuracy = sum(one.n for one in found), float(np.mean([one.accuracy for one in found]))
    spread = sum((one.high - one.low) ** 2 / 4 for one in found) ** 0.5 / len(found)
    ways = {way: float(np.mean([one.ways[way] for one in found])) for way in found[0].ways}
    unknown = float(np.mean([one.unknown for one in found]))
    return Paradigm(ALL, accuracy, max(0.0, accuracy - spread), min(1.0, accuracy + spread), n, ways, unknown)
