"""A fit as a folder: what was asked for, how it went, the fitted model, and how well it does."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from polyseme.adapt import folder
from polyseme.adapt.data import Data
from polyseme.adapt.fit import ATTEMPTS, fit
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.frozen import reading_digest
from polyseme.adapt.kinds import check_task, kind_for
from polyseme.adapt.settings import Settings, settings
from polyseme.adapt.unread import unread
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.files import clear_leftovers, damage, json_object, locked, sha256, write_file
from polyseme.formats import load
from polyseme.tasks.pictures import can_draw, confusion_picture
from polyseme.tasks.reading import Columns, Read, read, strange
from polyseme.tasks.report import Report as ClassReport
from polyseme.text.order import shuffled
from polyseme.train.claim import claim, refuse_strangers
from polyseme.train.report import Report

Tell = Callable[[Report], None]

RESULT = "result.json"
_FEW_STEPS = 100
_PATHS, _REPORT = "paths.json", "report.txt"
_WRITTEN = ("fitted", RESULT, _PATHS, _REPORT)


class Before(Protocol):
    """What makes another encoder of the one that was given, before that is fitted."""

    def facts(self) -> dict[str, Any]: ...

    def __call__(self, encoder: Path, inputs: Sequence[Any], folder: Path, tell: Tell) -> Path: ...


@dataclass(frozen=True)
class FitRun:
    """What was asked for."""

    task: str
    data: Path
    encoder: Path
    out: Path
    chosen: dict[str, Any]  # settings by name
    valid: Path | None = None
    test: Path | None = None
    limit: int | None = None
    columns: Columns = field(default_factory=Columns)
    before: Before | None = None

    def run(self, tell: Tell) -> dict[str, Any]:
        """Fit and measure; the scores by what they were measured on. What is fitted already is only measured."""
        check_task(self.task)
        values = settings(**{name: value for name, value in self.chosen.items() if value is not None})
        if values.tune == "frozen" and values.rate is not None:
            raise Mistake(f"rate={values.rate:g} is the encoder's, which stays frozen. Set head_rate, or tune it.")
        refuse_strangers(self.out)
        read_of = {path: self._read(path, tell) for path in (self.data, self.valid, self.test) if path}
        self._doubt(read_of, tell)
        data = _data(read_of[self.data])
        valid, test = (_data(read_of[path]) if path else None for path in (self.valid, self.test))
        with locked(self.out):
            started = time.monotonic()
            clear_leftovers(self.out, _WRITTEN)
            pretrained = load(self.encoder)
            self._claim(reading_digest(pretrained))
            place = self.out / "fitted"
            if place.is_dir() and damage(place) is None:
                fitted, found = folder.load_fitted(place)[0], self._found_before()
            else:
                shutil.rmtree(place, ignore_errors=True)  # it is damaged, if it is there
                fitted = self._fitted(pretrained, data, valid, values, tell)
                folder.save(fitted, place, self.task, force=True)
                found = {"seconds": round(time.monotonic() - started, 1)}
            self._clean()
            found = {"held out": fitted.metrics, **found}
            if fitted.top.mix is not None:
                found["mix"] = fitted.top.mix.facts()
            if test is not None:
                found["test"] = measure(fitted, test, self.out)
            write_file(self.out / RESULT, json.dumps(found, indent=1))
        return found

    def _fitted(
        self, pretrained: Pretrained, data: Data, valid: Data | None, values: Settings, tell: Tell
    ) -> Fitted:  # fmt: skip
        if self.before is not None:
            pretrained = load(self.before(self.encoder, data.inputs, self.out, tell))
        data = self._limited(data, values.seed)
        if values.epochs is not None and (n_steps := values.epochs * -(-len(data) // values.batch_size)) < _FEW_STEPS:
            few = f"{values.epochs} epochs are {n_steps} steps, too few for most heads; leave them out for enough."
            tell(Report("Fitting", 0, 1, said=few))
        level = kind_for(self.task, data, pretrained, values).level
        for said in (_shares(data, valid, values), *unread(pretrained, data.inputs, values, level)):
            tell(Report("Fitting", 0, 1, said=said))
        return fit(pretrained, self.task, data, values, valid, self.out, tell)

    def _found_before(self) -> dict[str, Any]:
        """How long the fit took and how well it did; nothing where it was killed before that was written."""
        path = self.out / RESULT
        return (json_object(path) if path.is_file() else None) or {}

    def _clean(self) -> None:
        """A fitted model needs nothing to go on from."""
        shutil.rmtree(self.out / "checkpoints", ignore_errors=True)
        (self.out / ATTEMPTS).unlink(missing_ok=True)

    def _limited(self, data: Data, seed: int) -> Data:
        if self.limit is None or self.limit >= len(data):
            return data
        return data.take(sorted(shuffled(np.arange(self.limit), len(data), seed, 0).tolist()))

    def _read(self, path: Path, tell: Tell) -> Read:
        found = read(self.task, path, self.columns)
        for line in found.said:
            tell(Report("Reading", 1, 1, said=line))
        return found

    def _doubt(self, found: dict[Path, Read], tell: Tell) -> None:
        """Say which labels of the other files can never be predicted: misspelt ones, most likely."""
        for path in (self.valid, self.test):
            if path and (said := strange(self.task, found[path], found[self.data].labels, str(self.data))):
                tell(Report("Reading", 1, 1, said=said))

    def _claim(self, encoder_digest: str) -> None:
        """A run is what it is made of, wherever that lies: the paths are written down, not compared."""
        facts = {
            "verb": "fit", "task": self.task, "data": sha256(self.data), "encoder": encoder_digest,
            "settings": self.chosen,
            "valid": sha256(self.valid) if self.valid else None, "limit": self.limit, "columns": list(self.columns),
            "before": self.before.facts() if self.before else None,
        }  # fmt: skip
        claim(self.out, facts, learned=("fitted", "checkpoints", "domain"))
        paths = {"data": self.data, "encoder": self.encoder, "valid": self.valid, "test": self.test}
        write_file(self.out / _PATHS, json.dumps({name: str(path) for name, path in paths.items() if path}))


def _shares(data: Data, valid: Data | None, values: Settings) -> str:
    """What is learned from and what is held out."""
    if valid is not None:
        return f"{len(data):,} examples to learn from, {len(valid):,} others measure the epochs."
    learned, held_out = data.parted(values.valid, values.seed)
    if held_out is not None:
        return f"{len(learned):,} examples to learn from, {len(held_out):,} held out to measure the epochs."
    few = "too few to hold any out" if values.valid else "none held out"
    return f"{len(data):,} examples to learn from, {few}: epochs are not measured. Measure with --test."


def _data(found: Read) -> Data:
    return Data(found.inputs, found.labels)


def measure(fitted: Fitted, data: Data, out: Path | None = None) -> dict[str, float]:
    """The scores; of classes and tags a report one by one, and a picture of the confusions where matplotlib is."""
    said = fitted.predict(data.inputs)
    found = fitted.kind.report(data, said) if out is not None else None
    if out is not None and found is not None:
        write_file(out / _REPORT, found.text() + "\n")
        if isinstance(found, ClassReport) and can_draw():
            confusion_picture(found, out / "confusion.png")
    return fitted.kind.scores(data, said)
