"""Settings as people write them: NAME=VALUE."""

from __future__ import annotations

import json
from typing import Any

from polyseme.errors import Mistake


def change(text: str) -> tuple[str, Any]:
    """A name and its value: a number, a list or true as JSON has it, else the text itself.

    >>> change("rate=1e-4"), change("betas=[0.7, 0.99]"), change("whole=span")
    (('rate', 0.0001), ('betas', [0.7, 0.99]), ('whole', 'span'))
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise Mistake(f"Cannot set {text!r}. Write NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
