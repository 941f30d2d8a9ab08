"""A run's folder belongs to one recipe, one text and one model to go on from."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polyseme.encoders import Pretrained
from polyseme.encoders.digest import add_weights
from polyseme.files import sha256
from polyseme.pretrain.job import Job
from polyseme.pretrain.recipes import Recipe
from polyseme.train.claim import claim


@dataclass(frozen=True)
class Begin:
    """What a run was asked for."""

    recipe: Recipe
    corpus: tuple[str, ...]
    valid: tuple[str, ...]
    init: str | None
    init_sha256: str | None  # another model may come to stand at the same place
    reading: dict[str, str]

    @classmethod
    def of(cls, recipe: Recipe, job: Job, init: str | None) -> Begin:
        return cls(recipe, job.corpus, job.valid, init, digest(job.init) if job.init else None, job.reading)

    def claim(self, out: Path) -> None:
        """Take a folder for this run, or see that it is this run's."""
        facts = {"verb": "pretrain", **asdict(self), "recipe": self.recipe.model_dump(mode="json")}
        claim(
            out, facts, learned=("model", "checkpoints"), prepared=("words.txt", "corpus", "valid", "pieces"),
            completed=self._completed,
        )  # fmt: skip

    def _completed(self, begun: dict[str, Any]) -> dict[str, Any]:
        """With the settings that this family's recipes did not have yet: they do nothing unless they are asked for."""
        recipe = begun.get("recipe")
        if not isinstance(recipe, dict) or recipe.get("family") != self.recipe.family:
            return begun
        defaults = type(self.recipe)(family=self.recipe.family).model_dump(mode="json")
        return {**begun, "recipe": _filled(recipe, defaults)}


def _filled(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """
    >>> _filled({"a": 1, "b": {"c": 2}}, {"a": 0, "b": {"c": 0, "d": 3}, "e": 4})
    {'a': 1, 'b': {'c': 2, 'd': 3}, 'e': 4}
    """
    both = {name: (values.get(name, default), default) for name, default in defaults.items()}
    filled = {
        name: _filled(one, default) if isinstance(one, dict) and isinstance(default, dict) else one
        for name, (one, default) in both.items()
    }
    return {**filled, **{name: value for name, value in values.items() if name not in defaults}}


def digest(model: Pretrained) -> str:
    """A hash of a model's weights and of its tokenizer's files."""
    found = hashlib.sha256()
    for module in (model.encoder, model.lm):
        if module is not None:
            add_weights(found, module)
    with TemporaryDirectory() as folder:
        model.tokenizer.write(Path(folder))
        for file in sorted(Path(folder).iterdir()):
            found.update(f"{file.name}{sha256(file)}".encode())
    return found.hexdigest()
