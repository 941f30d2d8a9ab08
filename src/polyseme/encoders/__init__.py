"""The families of encoders, each imported when it is first asked for."""

from importlib import import_module

from polyseme.encoders.encoder import Encoder, Family
from polyseme.encoders.pretrained import Pretrained
from polyseme.errors import Mistake, did_you_mean, listed

__all__ = ["Encoder", "Family", "Pretrained", "family"]

FAMILIES = {
    "static": "polyseme.encoders.static",
    "elmo": "polyseme.encoders.elmo",
    "awd_lstm": "polyseme.encoders.awd_lstm",
    "bert": "polyseme.encoders.bert",
}


def family(name: str) -> Family:
    """The family of this name."""
    if name not in FAMILIES:
        raise Mistake(f"There is no family {name!r}; there are {listed(FAMILIES)}.{did_you_mean(name, FAMILIES)}")
    found: Family = import_module(FAMILIES[name]).FAMILY
    return found
