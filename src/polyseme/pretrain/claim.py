"""A run's folder belongs to one recipe and one text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from polyseme.pretrain.recipes import Recipe
from polyseme.train.claim import claim


@dataclass(frozen=True)
class Begin:
    """What a run was asked for."""

    recipe: Recipe
    corpus: tuple[str, ...]
    valid: tuple[str, ...]
    init: str | None
    reading: dict[str, str]

    def claim(self, out: Path) -> None:
        """Take a folder for this run, or see that it is this run's."""
        facts = {**asdict(self), "recipe": self.recipe.model_dump(mode="json")}
        claim(out, facts, learned=("model", "checkpoints"), prepared=("words.txt", "corpus", "valid", "pieces"))
