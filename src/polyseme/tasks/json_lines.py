"""Files of JSON lines: one object a line, its keys the columns."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from polyseme.errors import BadData
from polyseme.tasks.lines import numbered_lines, shown
from polyseme.tasks.records import Row

ABSENT = object()  # the cell of a column that an object does not have
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_SAMPLE = 100  # objects whose keys are the columns


def header(path: Path) -> tuple[str, ...]:
    """The keys of the first objects, in the order they come."""
    names = {name: None for _, values in islice(_objects(path), _SAMPLE) for name in values}
    return tuple(names)


def rows(path: Path, names: Sequence[str]) -> Iterator[Row]:
    """Each object's values of these columns."""
    for number, values in _objects(path):
        yield Row(number, [values.get(name, ABSENT) for name in names])


def parse_json(string: str) -> Any:
    """A JSON value; ValueError where it is none, repeats a key in an object or is nested too deep."""
    try:
        return json.loads(string, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def has_half_pair(string: str) -> bool:
    """Whether it holds half a surrogate pair, which JSON can spell but no encoder can read."""
    return not string.isascii() and _HALF_PAIR.search(string) is not None


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    values = None
    for number, line in numbered_lines(path):
        if line.isspace():
            continue
        try:
            values = parse_json(line)
        except ValueError as error:
            raise BadData(_not_json(line, error), path, number) from None
        if not isinstance(values, dict):
            raise BadData(f'found {shown(values)}; wanted an object such as {{"text": "…"}} a line.', path, number)
        yield number, values
    if values is None:
        raise BadData('it is empty. Wanted: an object such as {"text": "…", "label": "…"} a line.', path)


def _not_json(line: str, error: ValueError) -> str:
    if line.lstrip().startswith("["):
        return "found the start of a list. Wanted: one object a line, without a list round them and commas between."
    where = f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else str(error)
    return f"{shown(line.strip())} is not JSON: {where}. Wanted: one whole object a line."


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"an object has the key {twice!r} twice")
    return values
