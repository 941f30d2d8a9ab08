"""A run's folder belongs to what it was begun with."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from polyseme.errors import BadFile, Mistake
from polyseme.files import json_object, write_file

RUN = "run.json"
_HASH = re.compile(r"[0-9a-f]{64,}")


def refuse_strangers(out: Path, mark: str = RUN, what: str = "run") -> None:
    """A folder with files that no run of ours left there is not worked in: some would be in the way, and be lost."""
    if out.is_dir() and not (out / mark).is_file() and any(_is_strange(path, mark) for path in out.iterdir()):
        raise Mistake(f"{out} holds files of its own. A {what} wants a new or empty folder: choose another with --out.")
    if out.exists() and not out.is_dir():
        raise Mistake(f"{out} is a file; a {what} wants a folder. Choose another with --out.")


def _is_strange(path: Path, mark: str) -> bool:
    """A kill while the mark was first written leaves a part of it under another name."""
    return path.name != ".lock" and not path.name.startswith(f".{mark}.")


def claim(
    out: Path,
    facts: dict[str, Any],
    learned: Iterable[str],
    prepared: Iterable[str] = (),
    completed: Callable[[dict[str, Any]], dict[str, Any]] = lambda begun: begun,
) -> None:
    """Write down what this run is, or compare with what was begun here.

    Until one of the files `learned` is there it may change; then what was `prepared` for it is made anew. What another
    verb has begun is never taken over. `completed` adds what an older polyseme, which had fewer settings, left out.
    """
    facts = json.loads(json.dumps(facts))
    begun = _read(out / RUN) if (out / RUN).exists() else {}
    _refuse_other_verb(out, begun, facts)
    begun = completed(begun)
    different = _differences(begun, {name: facts[name] for name in begun})  # an older polyseme wrote down less
    if begun and not different:
        return
    if begun and any((out / name).exists() for name in learned):
        raise Mistake(
            f"{out} was begun with other settings: {'; '.join(different)}. "
            "Give the same to go on, or choose another folder with --out."
        )
    for name in prepared:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        else:
            (out / name).unlink(missing_ok=True)
    write_file(out / RUN, json.dumps(facts, indent=1))


def _refuse_other_verb(out: Path, begun: dict[str, Any], facts: dict[str, Any]) -> None:
    """Two verbs ask for different things, even where one does not say its name."""
    if begun.get("verb", facts.get("verb")) != facts.get("verb") or not begun.keys() <= facts.keys():
        verb = begun.get("verb", "another verb")
        raise Mistake(f"{out} holds what polyseme {verb} has made there. Choose another folder with --out.")


def _read(path: Path) -> dict[str, Any]:
    if (facts := json_object(path)) is None:
        raise BadFile(f"{path} is damaged, so it cannot be told what this run is. Choose another folder with --out.")
    return facts


def _differences(begun: dict[str, Any], now: dict[str, Any], place: str = "") -> list[str]:
    """What was said then and what is said now.

    >>> _differences({"recipe": {"epochs": 50}}, {"recipe": {"epochs": 49}})
    ['recipe.epochs was 50, is 49']
    """
    found = []
    for name in dict.fromkeys([*begun, *now]):
        one, other, at = begun.get(name), now.get(name), f"{place}{name}"
        if isinstance(one, dict) and isinstance(other, dict):
            found += _differences(one, other, f"{at}.")
        elif one != other:
            found.append(f"{at} was {_said(one)}, is {_said(other)}")
    return found


def _said(value: Any) -> str:
    """A value as people know it: what is a hash is another content, whatever its digits are.

    >>> _said(None), _said([None, "body"]), _said(0.1), _said("c0ffee" * 11)
    ('not chosen', '[not chosen, "body"]', '0.1', 'c0ffeec0ffee…')
    """
    if value is None:
        return "not chosen"
    if isinstance(value, list):
        return f"[{', '.join(map(_said, value))}]"
    if isinstance(value, str) and _HASH.fullmatch(value):
        return f"{value[:12]}…"
    return json.dumps(value)
