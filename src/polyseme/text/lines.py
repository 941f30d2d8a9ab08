"""Bytes to lines in bounded memory, however long a line is."""

import codecs
import io
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from polyseme.errors import BadData

_SPACES = " \t\u3000\xa0"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST_SEQUENCE = 32  # marks behind a letter that a cut still respects


def decoded(blocks: Iterable[bytes], path: Path, errors: str = "strict") -> Iterator[str]:
    r"""The text of UTF-8 bytes, in parts: a byte order mark is dropped, and every line ends with \n."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors)
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    n_bytes, n_lines = 0, 0
    for block in chain(blocks, [b""]):
        n_bytes += len(block)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            before = newlines.decode(error.object[: error.start].decode(), final=True)
            place = n_bytes - len(error.object) + error.start
            raise _not_utf8(error, path, n_lines + before.count("\n") + 1, place) from None
        text = newlines.decode(text, final=not block)
        n_lines += text.count("\n")
        yield text


def parts(texts: Iterable[str], longest: int) -> Iterator[tuple[str, bool]]:
    """The lines of a text, whole or, where longer than `longest`, in parts, and whether each part ends its line.

    >>> list(parts(["one tw", "o", " three four\\nfive"], longest=8))
    [('one two', False), (' three', False), (' four', True), ('five', True)]
    """
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        for line in lines:
            *first, last = cut(line, longest)
            yield from ((part, False) for part in first)
            yield last, True
        *first, rest = cut(rest, longest)
        yield from ((part, False) for part in first)
    if rest:
        yield rest, True


def cut(line: str, longest: int) -> list[str]:
    """The line in parts of at most `longest` characters, cut before white space where there is some.

    >>> cut("to be or notwithstanding", longest=8)
    ['to be or', ' notwith', 'standing']
    """
    if len(line) <= longest:
        return [line]
    found, start = [], 0
    while len(line) - start > longest:
        end = _cut_place(line, start, start + longest)
        found.append(line[start:end])
        start = end
    return [*found, line[start:]]


def _cut_place(line: str, start: int, end: int) -> int:
    space = max(line.rfind(mark, start + 1, end + 1) for mark in _SPACES)
    if space > start:
        return space
    for place in range(end, max(start, end - _LONGEST_SEQUENCE), -1):
        if not (_continues(line[place]) or line[place - 1] == "\u200d"):  # a joiner binds on both sides
            return place
    return end


def _continues(character: str) -> bool:
    """Whether it belongs to the character before it: a combining mark, a joiner, an emoji's colour."""
    return (
        unicodedata.category(character)[0] == "M" or character == "\u200d" or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _not_utf8(error: UnicodeDecodeError, path: Path, line: int, place: int) -> BadData:
    if place == 0 and error.object[:2] in _UTF_16:
        found = "this is UTF-16, and UTF-8 was wanted"
    else:
        found = f"byte {place:,} (0x{error.object[error.start]:02x}) is not UTF-8: {error.reason}"
    return BadData(
        f"{found}. Save the file as UTF-8, or read it with errors='replace', which puts � there.", path, line
    )
