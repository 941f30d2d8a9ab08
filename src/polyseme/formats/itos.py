"""The vocabulary beside a fastai model: a list of words, as text, JSON or a pickle that is read without unpickling."""

import json
import pickletools
from pathlib import Path
from typing import Any

from polyseme.errors import BadFile
from polyseme.files import write_file
from polyseme.text import word_lists

_LARGEST = 256 * 2**20  # bytes; a vocabulary of a million words has a tenth of that

_MARK = object()


def read_itos(path: Path) -> list[str]:
    """The words in the order of their ids, from a .pkl, .json or .txt file."""
    if not path.is_file():
        raise BadFile(f"There is no vocabulary {path}. Give the list of words the model was trained with.")
    if (size := path.stat().st_size) > _LARGEST:
        raise BadFile(f"{path} has {size:,} bytes; a vocabulary has at most {_LARGEST:,}.")
    if path.suffix == ".txt":
        return word_lists.read(path)
    content = path.read_bytes()
    return _words(_json(content, path) if path.suffix == ".json" else _plain_pickle(content, path), path)


def write_itos(words: tuple[str, ...], path: Path) -> None:
    """The pickle that fastai reads: protocol 2, a list of strings."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    strings = b"".join(b"X" + len(word).to_bytes(4, "little") + word for word in encoded)
    write_file(path, b"\x80\x02](" + strings + b"e.")


def _words(found: object, path: Path) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        wrong = next((word for word in found if not isinstance(word, str)), found) if isinstance(found, list) else found
        raise BadFile(f"{path} must be a list of words; found {type(wrong).__name__}. Save the list as JSON.")
    return found


def _json(content: bytes, path: Path) -> object:
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise BadFile(f"{path} is not JSON: {problem}.") from None
    return found


def _plain_pickle(content: bytes, path: Path) -> object:
    """What a pickle of lists and strings holds. Its opcodes are walked, not run: all others are refused.

    Unpickling calls whatever functions a file names, so a vocabulary from the web could do anything.
    """
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name == "STOP":
                break
            _step(opcode.name, argument, stack, memo)
    except _Foreign as problem:
        raise BadFile(
            f"{path} is no plain list of words: it has {problem}, with which a pickle builds other objects and can run "
            "code. Nothing was run. If you trust it, unpickle it yourself and save the list of words as JSON."
        ) from None
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, UnicodeError) as problem:
        raise BadFile(f"{path} is a damaged pickle: {problem}. Copy it again.") from None
    if len(stack) != 1:
        raise BadFile(f"{path} is a damaged pickle: it ends with {len(stack)} values instead of one. Copy it again.")
    found: object = stack[0]
    return found


class _Foreign(Exception):
    """An opcode that a list of strings does not need."""


def _step(opcode: str, argument: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    """Do what one opcode says; each of these only moves strings and lists about."""
    match opcode:
        case "PROTO" | "FRAME":
            pass
        case "UNICODE" | "SHORT_BINUNICODE" | "BINUNICODE" | "BINUNICODE8":
            stack.append(argument)
        case "EMPTY_LIST":
            stack.append([])
        case "MARK":
            stack.append(_MARK)
        case "LIST":
            stack.append(_since_mark(stack))
        case "APPEND" | "APPENDS":
            words = _since_mark(stack) if opcode == "APPENDS" else [stack.pop()]
            stack[-1].extend(words)
        case "MEMOIZE":
            memo[len(memo)] = stack[-1]
        case "PUT" | "BINPUT" | "LONG_BINPUT":
            memo[argument] = stack[-1]
        case "GET" | "BINGET" | "LONG_BINGET":
            stack.append(memo[argument])
        case _:
            raise _Foreign(opcode if argument is None else f"{opcode} {argument!r}")


def _since_mark(stack: list[Any]) -> list[Any]:
    items = []
    while (item := stack.pop()) is not _MARK:
        items.append(item)
    return items[::-1]
