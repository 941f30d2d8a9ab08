"""Occurrences of a word grouped into senses, with a word on how sure the grouping is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from polyseme.errors import Mistake
from polyseme.lens.in_context import Array, directions
from polyseme.tasks.intervals import Z
from polyseme.text.mentions import Mention

_LEAST = 10  # mentions, below which a grouping says nothing
_N_REFERENCES, _N_HALVES = 5, 10
_AROUND = 8  # words on either side that may tell a sense
_PRIOR = 0.5  # of a word's count in either part, when parts are compared
_SAME = 1e-5  # the length of a difference between directions that rounding alone may make

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Grouping:
    """Which sense each occurrence belongs to, the largest sense first."""

    labels: Labels  # (occurrences,) from 0
    silhouette: float  # of these senses; 1 is the best there can be, 0 is chance
    silhouettes: dict[int, float]  # for each number of senses that was tried
    reference: float  # the highest silhouette of one cloud of points, without groups, of the same shape
    stability: float  # how alike groupings of halves are (adjusted Rand index); 1 is the same, 0 is chance

    @property
    def n(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def apart(self) -> bool:
        """Whether the senses are further apart than groups that k-means finds in a cloud without any."""
        return self.silhouette > self.reference

    def verdict(self) -> str:
        """What to make of it, in a sentence."""
        found = f"silhouette {self.silhouette:.2f}, {self.reference:.2f} without any groups; halves agree"
        found += f" to {self.stability:.2f}"
        if not self.apart:
            return f"No sign of more than one sense ({found})."
        sure = "clear" if self.stability > 0.8 else "unsure" if self.stability > 0.4 else "very unsure"
        return f"{self.n} groups, {sure} ({found})."


def group(rows: Array, most: int = 6, n_senses: int | None = None, seed: int = 0) -> Grouping:
    """k-means over directions; of 2 to `most` groups as many as have the highest silhouette, or as many as asked for.

    Directions are centred first: what all occurrences have in common, which is most of a vector, tells no sense.
    """
    n = len(rows)
    if n < _LEAST:
        raise Mistake(f"There are {n} occurrences; {_LEAST} are the least to group. Give more text with --corpus.")
    points = _centred(rows)
    possible = min(_n_different(points), n - 1)
    if possible < 2:
        raise Mistake(f"All {n} occurrences have one vector at this layer, so they show no senses. Take a higher one.")
    tried = [n_senses] if n_senses else list(range(2, min(most, n // 3, possible) + 1))
    if not 2 <= tried[0] <= possible:
        raise Mistake(f"{tried[0]} senses of {n} occurrences cannot be. Ask for 2 to {possible}.")
    found = {k: _means(points, k, seed).predict(points) for k in tried}
    silhouettes = {k: _silhouette(points, labels) for k, labels in found.items()}
    best = max(silhouettes, key=silhouettes.__getitem__)
    reference = max(_reference(points, k, seed + draw) for k in tried for draw in range(_N_REFERENCES))
    stability = _stability(points, found[best], best, seed)
    return Grouping(_by_size(found[best]), silhouettes[best], silhouettes, reference, stability)


def form_means(rows: Array, mentions: Sequence[Mention]) -> dict[str, Array]:
    """The mean of each form of the word that occurs often enough, and that of all as the form ""."""
    names = np.array([mention.word.casefold() for mention in mentions])
    often = [name for name, count in Counter(names.tolist()).items() if count >= _LEAST]
    return {"": rows.mean(0), **{name: rows[names == name].mean(0) for name in often}}


def without_forms(rows: Array, mentions: Sequence[Mention], means: Mapping[str, Array]) -> Array:
    """The same less the mean of each one's form: else "cracks" and "cracked" are groups before any two senses are."""
    return rows - np.stack([means.get(mention.word.casefold(), means[""]) for mention in mentions])


def central(rows: Array, labels: Labels, sense: int, n: int = 3) -> list[int]:
    """The occurrences nearest to a sense's middle."""
    inside = np.flatnonzero(labels == sense)
    points = _centred(rows)
    closeness = points[inside] @ points[inside].mean(0)
    return [int(place) for place in inside[np.argsort(-closeness, kind="stable")[:n]]]


def telling_words(mentions: Sequence[Mention], labels: Labels, sense: int, n: int = 6) -> list[str]:
    """Words around the occurrences of a sense that stand more often there than around the others, by their odds.

    Only those whose log odds differ by more than chance; a word counts once an occurrence, and in two at the least.
    """
    inside, outside = Counter[str](), Counter[str]()
    for mention, label in zip(mentions, labels.tolist(), strict=True):
        (inside if label == sense else outside).update(_around(mention))
    n_inside, n_outside = int((labels == sense).sum()), int((labels != sense).sum())
    odds = {
        word: _log_odds(count, n_inside, outside[word], n_outside)
        for word, count in inside.items()
        if count > 1 and any(map(str.isalpha, word))
    }
    sure = [word for word, (difference, error) in odds.items() if difference > Z * error]
    return sorted(sure, key=lambda word: (-odds[word][0], word))[:n]


def forms(mentions: Sequence[Mention], labels: Labels, sense: int) -> dict[str, int]:
    """How often a sense has each form of the word: groups may be those of forms rather than of meanings."""
    own = [mention.word.casefold() for mention, label in zip(mentions, labels.tolist(), strict=True) if label == sense]
    return dict(Counter(own).most_common())


def _centred(rows: Array) -> Array:
    rest = rows - rows.mean(0)
    rest[np.linalg.norm(rest, axis=1) < _SAME] = 0  # else what rounding left would be a direction
    return directions(rest)


def _n_different(points: Array) -> int:
    return len(np.unique(points.round(4), axis=0))


def _means(points: Array, k: int, seed: int) -> KMeans:
    return KMeans(min(k, _n_different(points)), n_init=5, random_state=seed % 2**32).fit(points)


def _silhouette(points: Array, labels: Labels) -> float:
    if len(np.unique(labels)) < 2:
        return 0.0
    return float(silhouette_score(points, labels))


def _reference(points: Array, k: int, seed: int) -> float:
    """The silhouette of as many points drawn from the one normal cloud that has these points' covariance."""
    centre = points.mean(0)
    _, spread, axes = np.linalg.svd(points - centre, full_matrices=False)
    draws = np.random.default_rng(seed % 2**32).standard_normal((len(points), len(spread)))
    cloud = directions(centre + draws * (spread / math.sqrt(len(points) - 1)) @ axes)
    return _silhouette(cloud, _means(cloud, k, seed).predict(cloud))


def _stability(points: Array, labels: Labels, k: int, seed: int) -> float:
    """How the grouping found from half of the points fits that of all, as a mean over random halves."""
    draw, found = np.random.default_rng(seed % 2**32), []
    for number in range(_N_HALVES):
        half = draw.permutation(len(points))[: max(k, len(points) // 2)]
        found.append(adjusted_rand_score(labels, _means(points[half], k, seed + number).predict(points)))
    return float(np.mean(found))


def _by_size(labels: Labels) -> Labels:
    """The same groups, numbered from the largest on."""
    _, numbers, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[numbers]


def _around(mention: Mention) -> set[str]:
    words, place = mention.text.words, mention.place
    near = words[max(0, place - _AROUND) : place] + words[place + 1 : place + 1 + _AROUND]
    return {word.casefold() for word in near}


def _log_odds(count: int, n: int, other: int, n_other: int) -> tuple[float, float]:
    """The difference of two log odds and its standard error."""
    cells = [count + _PRIOR, n - count + _PRIOR, other + _PRIOR, n_other - other + _PRIOR]
    difference = math.log(cells[0] / cells[1]) - math.log(cells[2] / cells[3])
    return difference, math.sqrt(sum(1 / cell for cell in cells))
