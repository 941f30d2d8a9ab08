"""How sure a score is, over seeds and over examples, and whether two differ by more than chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Combine = Callable[[Numbers], Numbers]  # (…, sums) to (…,) scores

N_RESAMPLES = 2000
_A_ROW = 200  # at least, so that a p corrected for the number of rows can still be small
_AT_ONCE = 8_000_000  # weights in memory


def resample(sums: Numbers, combine: Combine, n_resamples: int = N_RESAMPLES, seed: int = 0) -> Numbers:
    """(models, resamples) the score of each model on test sets drawn anew from the examples.

    `sums` is (examples, models, k): what an example adds to each of the k sums that `combine` makes a score of. All
    models see the same draws, so their differences are paired.
    """
    n, n_models, k = sums.shape
    flat = sums.reshape(n, n_models * k)
    draw, step, parts = np.random.default_rng(seed), max(1, _AT_ONCE // n), []
    for first in range(0, n_resamples, step):
        counts = _counts(draw, n, min(step, n_resamples - first))  # (resamples, examples)
        parts.append(combine((counts @ flat).reshape(len(counts), n_models, k)))
    return np.asarray(np.concatenate(parts).T, np.float64)


def enough(n_rows: int) -> int:
    """How many resamples so many rows want: no p is less than 2 / resamples, and Holm multiplies it by the rows."""
    return max(N_RESAMPLES, _A_ROW * n_rows)


def draws(points: Numbers, resampled: Numbers, seed: int = 0) -> Numbers:
    """(resamples,) where the mean score over all seeds and all examples may lie, given the few that were seen.

    `points` is (seeds,) and `resampled` (seeds, resamples). Examples are resampled, and what the score loses by that on
    the average is added twice: macro F1 falls with each class that a resample lacks, as it fell when the test set was
    drawn. The draws' own shape stays: near 1 a score has more room below it than above. Seeds are not resampled: three
    of them, drawn again and again, never leave the range of the three, which holds the mean of all seeds 75 times in
    100. Their part is Student's instead. It holds already what seeds differ by since each errs on examples of its own;
    that is taken off the part of the examples, so that it does not count twice. Where seeds differ by no more than
    that, as a few do by chance, the part of the examples stands for all.
    """
    again, n_seeds = resampled.mean(0), len(points)
    centre = np.asarray(again + 2 * (points.mean() - again.mean()), np.float64)
    if n_seeds == 1:
        return centre
    between = float(points.var(ddof=1)) / n_seeds
    own = float((resampled - again).var(1).sum()) / (n_seeds - 1) / n_seeds
    if between <= own:
        return centre
    common = np.sqrt(max(0.0, 1 - own / max(float(centre.var()), 1e-300)))
    tails = np.random.default_rng([seed, 1]).standard_t(n_seeds - 1, len(centre))
    middle = float(centre.mean())
    return np.asarray(middle + common * (centre - middle) + tails * np.sqrt(between), np.float64)


def interval(drawn: Numbers, level: float = 0.95) -> tuple[float, float]:
    """What holds this share of the draws, the same share beyond either end."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def p_value(drawn: Numbers) -> float:
    """How likely a difference as large as this is where there is none, from draws of the difference."""
    n_beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (n_beyond + 1) / (len(drawn) + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """The same for many questions asked at once (Holm 1979): that any is wrongly called different stays as unlikely.

    >>> holm([0.01, 0.04, 0.02])
    [0.03, 0.04, 0.04]
    """
    corrected, least = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = least
    return corrected


def _counts(draw: np.random.Generator, n: int, n_resamples: int) -> Numbers:
    """(resamples, examples) how often each example is drawn."""
    drawn = draw.integers(0, n, (n_resamples, n)) + np.arange(n_resamples)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=n_resamples * n).reshape(n_resamples, n).astype(np.float64)
