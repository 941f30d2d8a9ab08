"""A run's folder belongs to one recipe and one text."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polyseme.errors import BadFile, Mistake
from polyseme.files import write_file
from polyseme.pretrain.recipes import Recipe

RUN = "run.json"


def refuse_strangers(out: Path) -> None:
    """A folder with files that no run of ours left there is not worked in: some would be in the way, and be lost."""
    if out.is_dir() and not (out / RUN).is_file() and any(path.name != ".lock" for path in out.iterdir()):
        raise Mistake(f"{out} holds files of its own. A run wants a new or empty folder: choose another with --out.")
    if out.exists() and not out.is_dir():
        raise Mistake(f"{out} is a file; a run wants a folder. Choose another with --out.")


@dataclass(frozen=True)
class Begin:
    """What a run was asked for."""

    recipe: Recipe
    corpus: tuple[str, ...]
    valid: tuple[str, ...]
    init: str | None
    reading: dict[str, str]

    def claim(self, out: Path) -> None:
        """Write down what this run is, or compare with what was begun here; until it has learned, it may change."""
        facts = json.loads(json.dumps({**asdict(self), "recipe": self.recipe.model_dump(mode="json")}))
        begun = _read(out / RUN) if (out / RUN).exists() else None
        if begun == facts:
            return
        if begun is not None and ((out / "model").exists() or (out / "checkpoints").exists()):
            raise Mistake(
                f"{out} was begun with other settings: {'; '.join(_differences(begun, facts))}. "
                "Give the same to go on, or choose another folder with --out."
            )
        (out / "words.txt").unlink(missing_ok=True)
        for name in ("corpus", "valid", "pieces"):
            shutil.rmtree(out / name, ignore_errors=True)
        write_file(out / RUN, json.dumps(facts, indent=1))


def _read(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_bytes())
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
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
            found.append(f"{at} was {json.dumps(one)}, is {json.dumps(other)}")
    return found
