"""Strings that UTF-8 can hold."""

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(string: str) -> str:
    r"""The string with U+FFFD for every half of a surrogate pair, which no text should have; as long as before.

    >>> encodable("a\ud800b")
    'a�b'
    """
    return string if string.isascii() else _SURROGATES.sub("\ufffd", string)
