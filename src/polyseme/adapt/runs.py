"""A fit as a folder: what was asked for, how it went, the fitted model, and how well it does."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from polyseme.adapt import folder
from polyseme.adapt.data import Data
from polyseme.adapt.fit import fit
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.kinds import check_task
from polyseme.adapt.settings import settings
from polyseme.errors import Mistake
from polyseme.files import damage, locked, sha256, write_file
from polyseme.formats import load
from polyseme.tasks.reading import Columns, read
from polyseme.tasks.report import report
from polyseme.text.order import shuffled
from polyseme.train.report import Report

Tell = Callable[[Report], None]

RUN = "run.json"


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

    def run(self, tell: Tell) -> dict[str, Any]:
        """Fit and measure; the scores by what they were measured on. A finished run is measured again, not fitted."""
        check_task(self.task)
        values = settings(**{name: value for name, value in self.chosen.items() if value is not None})
        if self.out.exists() and not self.out.is_dir():
            raise Mistake(f"{self.out} is a file; a run wants a folder. Choose another with --out.")
        if self.out.is_dir() and not (self.out / RUN).is_file() and any(p.name != ".lock" for p in self.out.iterdir()):
            raise Mistake(
                f"{self.out} holds files of its own. A run wants a new or empty folder: choose another --out."
            )
        data = self._data(self.data, tell)
        if self.limit is not None and self.limit < len(data):
            places = shuffled(np.arange(self.limit), len(data), values.seed, 0)
            data = data.take(sorted(places.tolist()))
        valid = self._data(self.valid, tell) if self.valid else None
        test = self._data(self.test, tell) if self.test else None
        with locked(self.out):
            self._claim()
            started = time.monotonic()
            place = self.out / "fitted"
            if place.is_dir() and damage(place) is None:
                fitted, _ = folder.load_fitted(place)
            else:
                fitted = fit(load(self.encoder), self.task, data, values, valid, self.out, tell)
                folder.save(fitted, place, self.task, force=True)
                shutil.rmtree(self.out / "checkpoints", ignore_errors=True)
                (self.out / "attempts").unlink(missing_ok=True)
            seconds = time.monotonic() - started
            found: dict[str, Any] = {"held out": fitted.metrics, "seconds": round(seconds, 1)}
            if test is not None:
                found["test"] = self._measure(fitted, test)
            write_file(self.out / "result.json", json.dumps(found, indent=1))
        return found

    def _data(self, path: Path, tell: Tell) -> Data:
        found = read(self.task, path, self.columns)
        for line in found.said:
            tell(Report("Reading", 1, 1, said=line))
        return Data(found.inputs, found.labels)

    def _claim(self) -> None:
        facts = {
            "task": self.task, "data": [str(self.data), sha256(self.data)], "encoder": str(self.encoder),
            "settings": self.chosen, "valid": str(self.valid), "limit": self.limit, "columns": list(self.columns),
        }  # fmt: skip
        begun = json.loads((self.out / RUN).read_text()) if (self.out / RUN).exists() else None
        if begun is not None and begun != json.loads(json.dumps(facts)):
            changed = [name for name in facts if begun.get(name) != json.loads(json.dumps(facts[name]))]
            raise Mistake(
                f"{self.out} was begun with another {', '.join(changed)}. Give the same to go on, or choose another "
                "folder with --out."
            )
        write_file(self.out / RUN, json.dumps(facts, indent=1))

    def _measure(self, fitted: Fitted, test: Data) -> dict[str, float]:
        return measure(fitted, test, self.out)


def measure(fitted: Fitted, data: Data, out: Path | None = None) -> dict[str, float]:
    """The scores; for classes a report class by class, and a picture of the confusions where matplotlib is."""
    said = fitted.predict(data.inputs)
    if out is not None and hasattr(fitted.kind, "names") and fitted.kind.level == "text":
        found = report([str(label) for label in data.labels], [str(one.label) for one in said])
        write_file(out / "report.txt", found.text() + "\n")
    return fitted.kind.scores(data, said)
