"""A pretraining run: a folder that can be killed at any moment and goes on exactly where it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn

from polyseme.encoders import Pretrained
from polyseme.formats import save
from polyseme.pretrain.recipes import NeuralRecipe
from polyseme.train import optim, resume, schedule
from polyseme.train.average import averaged
from polyseme.train.loop import Loss, Progress, train
from polyseme.train.nt_asgd import NtAsgd
from polyseme.train.report import Report
from polyseme.types import State

_SAVE_EVERY = 60.0  # seconds; when a run is saved does not change what it computes
_SAVING = 0.05  # of the time, at the most
_LOG_EVERY = 20  # steps


class Objective(Protocol):
    """What is learned from: the loss of each step, and how good the model is on text held out."""

    n_steps: int
    steps_an_epoch: int
    evaluate_every: int  # steps
    words_a_step: int
    facts: dict[str, Any]  # what it learns from, for the record

    @property
    def module(self) -> nn.Module:
        """Everything that learns."""
        ...

    def loss(self, step: int, state: State | None) -> tuple[Loss, State | None]: ...

    def evaluate(self) -> dict[str, float]: ...

    def pretrained(self, provenance: dict[str, Any]) -> Pretrained: ...


@runtime_checkable
class Paced(Protocol):
    """An objective that has a say in how fast things go."""

    def pace(self, step: int) -> float:
        """A factor for the rate of a step."""
        ...

    def factors(self) -> list[tuple[nn.Module, float]]:
        """Parts of the module whose rate is always so many times that of the rest."""
        ...


def run(
    folder: Path, recipe: NeuralRecipe, objective: Objective, origin: Mapping[str, Any] | None = None
) -> Iterator[Report]:
    """Train until the end, from the newest whole checkpoint if there is one; the model is then in folder/model.

    `origin` says what was gone on from.
    """
    optimizer = optim.make(
        recipe.optimizer, objective.module, recipe.rate, recipe.betas, recipe.weight_decay, patience=recipe.patience,
        factors=objective.factors() if isinstance(objective, Paced) else (),
    )  # fmt: skip
    before = resume.Resumed(folder, objective.module, optimizer)
    log = resume.Log(folder / "metrics.jsonl", before.step)
    watch = _Watch(objective, before)
    steps = train(
        objective.loss, optimizer, _rate(recipe, objective), range(before.step, objective.n_steps),
        recipe.seed, recipe.most_norm, before.state,
    )  # fmt: skip
    for now in steps:
        is_due = now.step % objective.evaluate_every == 0 or now.step == objective.n_steps
        metrics = _evaluate(objective, optimizer) if is_due else None
        if metrics or now.step % _LOG_EVERY == 0:
            log.add({"step": now.step, "loss": now.loss, "norm": now.norm, "rate": now.rate, **(metrics or {})})
        if is_due or watch.due():
            with watch.saving():
                resume.save(folder, objective.module, optimizer, now, {"seconds": watch.seconds()})
        yield watch.report(now, metrics)
    curve = [line for line in log.lines if len(line) > 4]  # those with a measurement on text held out
    provenance = {
        "polyseme": version("polyseme"),
        "recipe": recipe.model_dump(),
        **objective.facts,
        **(origin or {}),
        "metrics": curve[-1] if curve else {},
        "curve": curve,
        "cost": {"seconds": round(watch.seconds()), "threads": torch.get_num_threads()},
    }
    with averaged(optimizer):
        save(objective.pretrained(provenance), folder / "model")


def _rate(recipe: NeuralRecipe, objective: Objective) -> Callable[[int], float]:
    n_steps = objective.n_steps
    factors: dict[str, Callable[[int], float]] = {
        "constant": lambda step: 1.0,
        "warm_up_linear": lambda step: schedule.warm_up_linear(step, n_steps, recipe.warm_up),
        "slanted_triangular": lambda step: schedule.slanted_triangular(step, n_steps, recipe.cut, recipe.ratio),
    }
    factor = factors[recipe.schedule]
    if not isinstance(objective, Paced):
        return lambda step: recipe.rate * factor(step)
    pace = objective.pace
    return lambda step: recipe.rate * factor(step) * pace(step)


def _evaluate(objective: Objective, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    """How good the model is now, with its average weights where there are any; who waits for it is told."""
    objective.module.eval()
    with averaged(optimizer), torch.inference_mode():
        metrics = objective.evaluate()
    objective.module.train()
    if isinstance(optimizer, NtAsgd):
        optimizer.hear(metrics["perplexity"] if "perplexity" in metrics else metrics["masked_perplexity"])
    return metrics


class _Watch:
    """How fast it goes, how long it took with all that came before, and whether it is time to save."""

    def __init__(self, objective: Objective, before: resume.Resumed) -> None:
        self.objective, self.first, self.already = objective, before.step, before.facts.get("seconds", 0.0)
        self.start = self.saved = time.monotonic()
        self.wait = _SAVE_EVERY

    def seconds(self) -> float:
        return float(self.already + time.monotonic() - self.start)

    def due(self) -> bool:
        return time.monotonic() - self.saved >= self.wait

    @contextmanager
    def saving(self) -> Iterator[None]:
        """The next one is due when this one's share in the time has become small."""
        began = time.monotonic()
        yield
        self.saved = time.monotonic()
        self.wait = max(_SAVE_EVERY, (self.saved - began) / _SAVING)

    def report(self, progress: Progress, metrics: dict[str, float] | None) -> Report:
        words = (progress.step - self.first) * self.objective.words_a_step
        speed = words / max(1e-9, time.monotonic() - self.start)
        epoch = (progress.step - 1) // self.objective.steps_an_epoch + 1
        epochs = -(-self.objective.n_steps // self.objective.steps_an_epoch)
        note = f"epoch {epoch}/{epochs} · loss {progress.loss:.3f} · {speed:,.0f} words/s"
        return Report("Pretraining", progress.step, self.objective.n_steps, note, metrics)
