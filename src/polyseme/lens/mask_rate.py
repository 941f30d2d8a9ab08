"""The mask-rate study: pretrainings that differ in nothing but how much of the text they mask."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from polyseme.adapt.runs import FitRun
from polyseme.errors import Mistake
from polyseme.files import write_file
from polyseme.formats import load
from polyseme.pretrain import pretrain, recipe
from polyseme.pretrain.recipes import BertRecipe
from polyseme.train.report import Report

Tell = Callable[[Report], None]

RESULT = "study.json"


@dataclass(frozen=True)
class Task:
    """What each of the models is fitted to afterwards."""

    name: str
    data: Path
    test: Path | None = None
    settings: dict[str, Any] = field(default_factory=lambda: {"tune": "full"})


@dataclass(frozen=True)
class Rate:
    """One pretraining. It is measured at 15 % whatever it learned at: losses at other rates do not compare."""

    rate: float
    masked_loss: float
    masked_accuracy: float
    masked_perplexity: float
    score: float | None = None  # of the task
    score_name: str | None = None


def mask_rate(
    rates: Sequence[float], name: str, corpus: Sequence[str], out: Path, changes: Sequence[str] = (),
    valid: Sequence[str] = (), task: Task | None = None, tell: Tell = lambda report: None, **reading: Any,
) -> list[Rate]:  # fmt: skip
    """A run a rate in the folder `out`. Killed at any moment, the same call goes on; what is done is not done again."""
    _check(rates, name, changes)
    found = []
    for rate in sorted(set(rates)):
        place = out / f"rate-{rate:g}"
        told = named(f"Rate {rate:g}", tell)
        pretrain(recipe(name, [*changes, f"predict={rate}"]), corpus, place, valid, tell=told, **reading)
        metrics = load(place).provenance["metrics"]
        row = Rate(rate, *(metrics[key] for key in ("masked_loss", "masked_accuracy", "masked_perplexity")))
        found.append(_with_task(row, task, place, told) if task else row)
    write_file(out / RESULT, json.dumps([asdict(row) for row in found], indent=1))
    return found


def _check(rates: Sequence[float], name: str, changes: Sequence[str]) -> None:
    wrong = [rate for rate in rates if not 0 < rate <= 1]
    if wrong or not rates:
        raise Mistake(f"A rate is a share above 0 and at most 1, such as 0.15; found {wrong[0] if wrong else 'none'}.")
    made = recipe(name, changes)
    if not isinstance(made, BertRecipe):
        raise Mistake(f"The recipe {name} is of the family {made.family!r}, which masks nothing. Use one of BERT's.")
    for setting in ("predict", "predict_end", "corrupt", "corrupt_end"):
        if getattr(made, setting) != BertRecipe.model_fields[setting].default:
            raise Mistake(f"{setting} is what this study changes, together with --rates. Leave it out of --set.")


def _with_task(row: Rate, task: Task, place: Path, tell: Tell) -> Rate:
    run = FitRun(task.name, task.data, place, place / f"fit-{task.name}", task.settings, test=task.test)
    name, value = score_of(run.run(tell))
    return replace(row, score=value, score_name=name)


def score_of(result: dict[str, Any]) -> tuple[str, float]:
    """The most telling score of a fit: that of the test where there is one, else that of the epoch that was kept."""
    scores = result.get("test") or result["held out"]
    found = {name: value for name, value in scores.items() if isinstance(value, float) and name != "score"}
    if not found:
        raise Mistake("The fit was measured on nothing: too few examples to hold some out. Give others with --test.")
    return next(iter(found.items()))


def named(name: str, tell: Tell) -> Tell:
    """Each run has stages of its own."""
    return lambda report: tell(replace(report, stage=f"{name}: {report.stage.lower()}"))
