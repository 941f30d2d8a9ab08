"""Data order as arithmetic: which example comes when is a pure function of (seed, epoch, index)."""

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 6


def shuffled(index: NDArray[np.integer] | int, n: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """The examples that stand at these places of the epoch's order: a permutation of range(n) that is never stored.

    >>> sorted(shuffled(np.arange(5), 5, seed=1, epoch=0).tolist())
    [0, 1, 2, 3, 4]
    """
    places = np.atleast_1d(np.asarray(index, dtype=np.uint64))
    assert n > 0
    assert places.size == 0 or int(places.max()) < n
    half = max(1, -(-int(n - 1).bit_length() // 2))
    keys = [np.uint64(seed_for(seed, epoch, r)) for r in range(_ROUNDS)]
    out = _feistel(places, half, keys)
    while (outside := out >= n).any():  # walk the cycle until it comes back into the range
        out[outside] = _feistel(out[outside], half, keys)
    return out.astype(np.int64)


def seed_for(*parts: int) -> int:
    """One 63-bit seed from several numbers, such as (seed, epoch, step).

    >>> seed_for(1, 2) == seed_for(1, 2), seed_for(1, 2) == seed_for(2, 1)
    (True, False)
    """
    state = np.array([0x243F6A8885A308D3], dtype=np.uint64)
    for part in parts:
        state = _mix(state ^ np.uint64(part & 0xFFFFFFFFFFFFFFFF))
    return int(state[0] >> np.uint64(1))


def _feistel(places: NDArray[np.uint64], half: int, keys: list[np.uint64]) -> NDArray[np.uint64]:
    """A permutation of range(4 ** half): two halves of the bits, each stirred into the other in turn."""
    mask = np.uint64((1 << half) - 1)
    left, right = places >> np.uint64(half), places & mask
    for key in keys:
        left, right = right, left ^ (_mix(right ^ key) & mask)
    return (left << np.uint64(half)) | right


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64's finaliser (Steele et al. 2014): every bit in changes about half of the bits out."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
