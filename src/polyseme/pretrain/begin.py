"""One call from raw text to a model on disk."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import torch

from polyseme.encoders import Pretrained
from polyseme.errors import BadFile, Mistake
from polyseme.files import clear_leftovers, damage, locked
from polyseme.formats import load, provenance, save
from polyseme.pretrain import begin_awd, begin_bert, begin_elmo, static
from polyseme.pretrain.claim import Begin
from polyseme.pretrain.corpus import read, recorded, refuse_changed, refuse_shared
from polyseme.pretrain.job import Job
from polyseme.pretrain.recipes import NeuralRecipe, Recipe, StaticRecipe
from polyseme.pretrain.run import Objective, run
from polyseme.text.bags import BagTokenizer
from polyseme.train.claim import refuse_strangers
from polyseme.train.report import Report

Tell = Callable[[Report], None]
Paths: TypeAlias = "str | Path | Sequence[str | Path]"

# what is learned by each family's networks, from its recipe and the run's text
_BEGIN: dict[str, Callable[[Any, Job], Objective]] = {
    "elmo": begin_elmo.begin,
    "awd_lstm": begin_awd.begin,
    "bert": begin_bert.begin,
}


# what a run writes in its folder beside its checkpoints
_WRITTEN = ("corpus", "valid", "pieces", "model", "words.txt", "run.json", "metrics.jsonl")


def pretrain(
    recipe: Recipe,
    corpus: Paths,
    out: Path | str,
    valid: Paths = (),
    init: Path | str | None = None,
    split: bool = False,
    field: str = "text",
    errors: str = "strict",
    tell: Tell = lambda report: None,
) -> Path:
    """Make an encoder from raw text in the folder `out`; killed at any moment, the same call goes on where it was.

    `field` is where jsonl and parquet hold the text; errors="replace" reads bytes that are no UTF-8 as U+FFFD.
    """
    out, texts, held_out = Path(out), _strings(corpus), _strings(valid)
    reading = {"split": "spaces" if split else "rules", "field": field, "errors": errors}
    if isinstance(recipe, StaticRecipe):
        _check_static(held_out, init)
    refuse_strangers(out)
    refuse_shared(texts, held_out)
    with locked(out):
        clear_leftovers(out, _WRITTEN)
        job = Job(texts, held_out, out, reading, load(init) if init else None, tell)
        Begin.of(recipe, job, str(init) if init else None).claim(out)
        if (out / "model").exists():
            _check_finished(job)
        elif isinstance(recipe, StaticRecipe):
            _static(job, recipe)
        elif isinstance(recipe, NeuralRecipe):
            for report in run(out, recipe, _BEGIN[recipe.family](recipe, job), job.origin):
                tell(report)
        return _finished(out)


def _strings(paths: Paths) -> tuple[str, ...]:
    return tuple(map(str, [paths] if isinstance(paths, str | Path) else paths))


def _check_static(valid: Sequence[str], init: Path | str | None) -> None:
    if init:
        raise Mistake("Static vectors are trained anew each time: leave --init out.")
    if valid:
        raise Mistake("Static vectors are not measured while they are trained: leave --valid out.")


def _check_finished(job: Job) -> None:
    """A finished model is neither made again nor given to who asks for that of another text."""
    model = job.folder / "model"
    if problem := damage(model):
        raise BadFile(f"{model} is damaged ({problem}). Delete it to train it again.")
    made_from = provenance.read(model)
    for name, paths in (("corpus", job.corpus), ("valid", job.valid)):
        if paths:
            refuse_changed(job, paths, made_from.get(name, {}).get("files", []))


def _finished(out: Path) -> Path:
    """The model is all that is kept; what it was made from takes much room."""
    for name in ("corpus", "valid", "pieces", "checkpoints"):
        shutil.rmtree(out / name, ignore_errors=True)
    return out


def _static(job: Job, recipe: StaticRecipe) -> None:
    text, began = read(job, job.corpus, "corpus"), time.monotonic()
    made = static.train(text, recipe, job.folder, lambda done, total: job.tell(Report("Training", done, total)))
    assert isinstance(made.tokenizer, BagTokenizer)
    said = f"{len(made.tokenizer.words):,} of the text's {len(text.types):,} different words have a vector"
    job.tell(Report("Training", 1, 1, said=f"{said} (min_count={recipe.min_count}, max_words={recipe.max_words:,})"))
    facts = {
        "polyseme": version("polyseme"),
        "recipe": recipe.model_dump(),
        "corpus": recorded(text),
        "cost": {"seconds": round(time.monotonic() - began), "threads": torch.get_num_threads()},
    }
    save(Pretrained(made.tokenizer, made.encoder, facts), job.folder / "model")
