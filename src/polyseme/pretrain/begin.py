"""One call from raw text to a model on disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.files import damage, locked
from polyseme.formats import load, save
from polyseme.pretrain import begin_awd, begin_bert, begin_elmo, static
from polyseme.pretrain.claim import Begin
from polyseme.pretrain.job import Job
from polyseme.pretrain.recipes import NeuralRecipe, Recipe, StaticRecipe
from polyseme.pretrain.run import Objective, run
from polyseme.train.claim import refuse_strangers
from polyseme.train.report import Report

Tell = Callable[[Report], None]

# what is learned by each family's networks, from its recipe and the run's text
_BEGIN: dict[str, Callable[[Any, Job], Objective]] = {
    "elmo": begin_elmo.begin,
    "awd_lstm": begin_awd.begin,
    "bert": begin_bert.begin,
}


def pretrain(
    recipe: Recipe,
    corpus: Sequence[str],
    out: Path | str,
    valid: Sequence[str] = (),
    init: Path | str | None = None,
    split: bool = False,
    field: str = "text",
    errors: str = "strict",
    tell: Tell = lambda report: None,
) -> Path:
    """Make an encoder from raw text in the folder `out`; killed at any moment, the same call goes on where it was.

    `field` is where jsonl and parquet hold the text; errors="replace" reads bytes that are no UTF-8 as U+FFFD.
    """
    out = Path(out)
    reading = {"split": "spaces" if split else "rules", "field": field, "errors": errors}
    begin = Begin(recipe, tuple(corpus), tuple(valid), str(init) if init else None, reading)
    if isinstance(recipe, StaticRecipe) and init:
        raise Mistake("Static vectors are trained anew each time: leave --init out.")
    refuse_strangers(out)
    with locked(out):
        begin.claim(out)
        if (out / "model").is_dir() and damage(out / "model") is None:
            return _finished(out)
        job = Job(tuple(corpus), tuple(valid), out, reading, load(init) if init else None, tell)
        if isinstance(recipe, StaticRecipe):
            _static(job, recipe)
        elif isinstance(recipe, NeuralRecipe):
            for report in run(out, recipe, _BEGIN[recipe.family](recipe, job)):
                tell(report)
        return _finished(out)


def _finished(out: Path) -> Path:
    """The model is all that is kept; what it was made from takes much room."""
    for name in ("corpus", "valid", "pieces", "checkpoints"):
        shutil.rmtree(out / name, ignore_errors=True)
    return out


def _static(job: Job, recipe: StaticRecipe) -> None:
    text = job.words()
    made = static.train(text, recipe, job.folder, lambda done, total: job.tell(Report("Training", done, total)))
    provenance = {"polyseme": version("polyseme"), "recipe": recipe.model_dump(), **text.facts}
    save(Pretrained(made.tokenizer, made.encoder, provenance), job.folder / "model", force=True)
