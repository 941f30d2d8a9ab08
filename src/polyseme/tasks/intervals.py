"""How far a share or a correlation that was measured may be off, as an interval of 95 %."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Z = 1.959964  # of 95 %


class Estimate(NamedTuple):
    """A number and the interval it lies in."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """How far the number strays by chance: its standard error, on the side where it has more room."""
        return max(self.high - self.value, self.value - self.low) / Z


def share(n_right: float, n: float) -> Estimate:
    """Of independent answers (Wilson 1927), which does not fail near 0 and 1.

    >>> [round(value, 3) for value in share(8, 10)]
    [0.8, 0.49, 0.943]
    """
    if n == 0:
        return Estimate(math.nan, 0.0, 1.0)
    part, scale = n_right / n, 1 + Z**2 / n
    middle = (part + Z**2 / (2 * n)) / scale
    spread = Z / scale * math.sqrt(part * (1 - part) / n + Z**2 / (4 * n**2))
    return Estimate(part, min(part, max(0.0, middle - spread)), max(part, min(1.0, middle + spread)))


def clustered_share(n_right: Sequence[float], n: Sequence[float]) -> Estimate:
    """Of answers that come in sentences: those of one sentence are not independent, so sentences are what varies.

    The linearised variance of a ratio (Cochran 1977); with one answer a sentence it is nearly `share`.

    >>> [round(value, 3) for value in clustered_share([2, 0, 2, 2], [2, 2, 2, 2])]
    [0.75, 0.26, 1.0]
    """
    rights, sizes = np.asarray(n_right, float), np.asarray(n, float)
    total, n_clusters = sizes.sum(), len(sizes)
    if n_clusters < 2 or total == 0:
        return share(float(rights.sum()), float(total))
    part = rights.sum() / total
    variance = n_clusters / (n_clusters - 1) * ((rights - part * sizes) ** 2).sum() / total**2
    if variance == 0:  # all are right, or none, or as many of each
        return share(float(part) * n_clusters, n_clusters)
    spread = Z * math.sqrt(variance)
    return Estimate(float(part), max(0.0, float(part - spread)), min(1.0, float(part + spread)))


def correlation(value: float, n: int) -> Estimate:
    """Fisher's interval, with the variance that suits Spearman's correlation (Bonett & Wright 2000).

    Ranks in perfect order, whose interval would be a point, count as half a swap of neighbours short of it.

    >>> [round(value, 2) for value in correlation(0.7, 353)]
    [0.7, 0.64, 0.75]
    """
    if n < 4:
        return Estimate(value, -1.0, 1.0)
    most = 1 - 6 / (n * (n**2 - 1))  # a swap of neighbours costs twice as much
    middle = math.atanh(max(-most, min(most, value)))
    spread = Z * math.sqrt((1 + value**2 / 2) / (n - 3))
    return Estimate(value, min(value, math.tanh(middle - spread)), max(value, math.tanh(middle + spread)))
