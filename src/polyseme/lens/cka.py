"""Linear CKA (Kornblith et al. 2019): how alike two layers arrange the same words, whatever their axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.lens.in_context import Array, Tell, layer_number, silent, vectors, words_of
from polyseme.types import Text

Matrix = NDArray[np.float64]

_WINDOW = 256  # texts whose vectors, of both encoders, are in memory at once
_MOST_BYTES = 1 << 30  # for the products of all pairs of layers


def cka(
    one: Pretrained, other: Pretrained, texts: Sequence[Text], layers: Sequence[int] | None = None, tell: Tell = silent
) -> Matrix:
    """(layers, layers): 1 where the two are the same but for a turn and a scale, 0 where they have nothing in common.

    Exact and in bounded memory: only the products of columns with columns are kept, of all words. `layers` are those
    of both encoders; None means all.
    """
    rows, columns = (_chosen(pretrained, layers) for pretrained in (one, other))
    widths = [one.encoder.widths[number] for number in rows], [other.encoder.widths[number] for number in columns]
    _refuse_too_many(*widths)
    sums = Sums(*widths)
    for first in range(0, len(texts), _WINDOW):
        window = [text for text in texts[first : first + _WINDOW] if text.spans]
        spans = words_of(window)
        ours, theirs = vectors(one, window, spans), vectors(other, window, spans)
        sums.add([ours[number] for number in rows], [theirs[number] for number in columns])
        tell(first + len(window), len(texts))
    return sums.cka()


class Sums:
    """The products of two lists of layers, a batch of rows at a time."""

    def __init__(self, ours: Sequence[int], theirs: Sequence[int]) -> None:
        self.n = 0
        self.totals = [[np.zeros(width) for width in widths] for widths in (ours, theirs)]
        self.own = [[np.zeros((width, width)) for width in widths] for widths in (ours, theirs)]
        self.shared = [[np.zeros((width, other)) for other in theirs] for width in ours]

    def add(self, ours: Sequence[Array], theirs: Sequence[Array]) -> None:
        """Rows of the same words."""
        self.n += len(ours[0])
        for side, layers in enumerate((ours, theirs)):
            for total, own, layer in zip(self.totals[side], self.own[side], layers, strict=True):
                total += layer.sum(0, dtype=np.float64)
                own += layer.T @ layer
        for products, layer in zip(self.shared, ours, strict=True):
            for product, their in zip(products, theirs, strict=True):
                product += layer.T @ their

    def cka(self) -> Matrix:
        """Columns are centred here: the product of centred columns is the product less n times that of the means."""
        if self.n < 2:
            raise Mistake(f"Layers are compared by two words or more; there are {self.n}.")
        norms = [
            [
                _norm(own - np.outer(total, total) / self.n)
                for own, total in zip(self.own[side], self.totals[side], strict=True)
            ]
            for side in (0, 1)
        ]
        found = np.zeros((len(self.shared), len(self.shared[0])))
        for i, products in enumerate(self.shared):
            for j, product in enumerate(products):
                centred = product - np.outer(self.totals[0][i], self.totals[1][j]) / self.n
                found[i, j] = _norm(centred) ** 2 / max(norms[0][i] * norms[1][j], 1e-300)
        return found


def _norm(matrix: Matrix) -> float:
    return float(np.linalg.norm(matrix))


def _chosen(pretrained: Pretrained, layers: Sequence[int] | None) -> list[int]:
    if layers is None:
        return list(range(len(pretrained.encoder.widths)))
    return [layer_number(pretrained, number) for number in layers]


def _refuse_too_many(ours: Sequence[int], theirs: Sequence[int]) -> None:
    n_bytes = 8 * (sum(ours) * sum(theirs) + sum(width**2 for width in (*ours, *theirs)))
    if n_bytes > _MOST_BYTES:
        raise Mistake(
            f"{len(ours)} layers against {len(theirs)} would take {n_bytes / 2**30:.1f} GB of memory; "
            f"{_MOST_BYTES >> 30} GB is the most. Compare some of them with --layers 0 -1."
        )
