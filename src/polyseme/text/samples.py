"""An even sample of more text than is wanted."""

from collections.abc import Iterable


def even_sample(strings: Iterable[str], n_characters: int) -> list[str]:
    """Every string, or every 2nd, 4th, 8th … of them: as many as have at most that many characters, spread evenly.

    One pass, and never more in memory than twice what is wanted; the same strings give the same sample.

    >>> even_sample(["ab", "cd", "ef", "gh", "ij"], 6)
    ['ab', 'ef', 'ij']
    """
    kept: list[str] = []
    stride, size = 1, 0
    for number, string in enumerate(strings):
        if number % stride:
            continue
        kept.append(string)
        size += len(string)
        while size > n_characters and len(kept) > 1:
            kept = kept[::2]
            stride *= 2
            size = sum(map(len, kept))
    return kept
