"""Which tag may follow which, where tags mark spans of words (IOB2, IOBES)."""

import re
from collections.abc import Sequence

import torch

from polyseme.layers.crf import Allowed

_FORM = re.compile(r"O|[BIES](-.+)?", re.DOTALL)


def span_rules(tags: Sequence[str]) -> Allowed | None:
    """The rules of the tags' scheme; None where they mark no spans, or do it as IOB1, which forbids next to nothing.

    >>> rules = span_rules(["O", "B-PER", "I-PER"])
    >>> rules.follow.int().tolist(), rules.start.int().tolist()
    ([[1, 1, 0], [1, 1, 1], [1, 1, 1]], [1, 1, 0])
    """
    if not all(map(_FORM.fullmatch, tags)) or not any("-" in tag for tag in tags) or not _is_whole(tags):
        return None
    allowed = _iobes if any(tag[0] in "ES" for tag in tags) else _iob2
    return Allowed(
        torch.tensor([[allowed(one, other) for other in tags] for one in tags]),
        torch.tensor([allowed("O", tag) for tag in tags]),
        torch.tensor([allowed(tag, "O") for tag in tags]),
    )


def _is_whole(tags: Sequence[str]) -> bool:
    """Whether what goes on can also begin, and a sentence of any length can be tagged."""
    ends = [tag for tag in tags if tag[0] in "ES"]
    begins = {f"B{tag[1:]}" for tag in tags if tag[0] in "IE"}
    return begins <= set(tags) and (not ends or "O" in tags or any(tag[0] == "S" for tag in ends))


def _iob2(before: str, tag: str) -> bool:
    return tag[0] in "OB" or _same(before, tag)


def _iobes(before: str, tag: str) -> bool:
    return tag[0] in "IE" and _same(before, tag) if before[0] in "BI" else tag[0] in "OBS"


def _same(before: str, tag: str) -> bool:
    return before != "O" and before[1:] == tag[1:]
