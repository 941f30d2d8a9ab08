"""Which families can do a thing with their language model, and what to say of the others."""

from collections.abc import Mapping
from typing import TypeVar

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake, listed

Way = TypeVar("Way")


def way_of(pretrained: Pretrained, ways: Mapping[str, Way], what: str) -> Way:
    """The way of this encoder's family; it needs the output layer of its pretraining."""
    family = pretrained.encoder.family
    if family not in ways:
        raise Mistake(f"Encoders of the family {family!r} cannot {what} here; {listed(ways)} can.")
    if pretrained.lm is None:
        raise Mistake(
            f"This model has no output layer, so it cannot {what}: released ELMo files leave it out. "
            "Pretrain further with --init, which makes one."
        )
    return ways[family]
