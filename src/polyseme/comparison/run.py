"""Fit one cell of a plan after another; what was done before is not done again."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from polyseme.adapt.fit import fit, said
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.settings import MOST_EPOCHS
from polyseme.adapt.shared import Shared
from polyseme.comparison.costs import forget_peak, peak_bytes
from polyseme.comparison.plan import Cell, Plan
from polyseme.comparison.results import Line, Results
from polyseme.comparison.sources import Source
from polyseme.comparison.subsets import Parts, subset
from polyseme.encoders import Pretrained
from polyseme.encoders.fresh import fresh
from polyseme.errors import Mistake
from polyseme.text.order import seed_for
from polyseme.text.words import to_text
from polyseme.train.report import Report
from polyseme.types import Prediction

Tell = Callable[[Report], None]

_TIMED = 256  # test examples whose prediction is timed
_LONG = 5000  # examples, each epoch's counted: a tuned fit of more is saved on the way, of less begun again


@dataclass(frozen=True)
class Runner:
    """What all cells share."""

    task: str
    parts: Parts
    plan: Plan
    sources: Sequence[Source]
    results: Results
    folder: Path
    tell: Tell = lambda report: None

    def run(self) -> Iterator[tuple[Cell, Line]]:
        """Each cell as soon as it is done; those that were done before are passed over."""
        by_name = {source.name: source for source in self.sources}
        waiting = [cell for cell in self.plan.cells if not self.results.has(cell.id)]
        for name, cells in groupby(waiting, key=lambda cell: cell.way.encoder):
            source = by_name[name]
            yield from self._with(source.load(), list(cells))
            source.forget()

    def _with(self, given: Pretrained, cells: list[Cell]) -> Iterator[tuple[Cell, Line]]:
        """The cells of one encoder. Where it learns in some of them it is a copy, which is then put back."""
        learns = any(cell.settings.changes_encoder for cell in cells)
        pretrained = replace(given, encoder=deepcopy(given.encoder)) if learns else given
        shared, timed = Shared(pretrained, self._all_inputs()), set[object]()
        for cell in cells:
            if cell.way.scratch:
                pretrained.encoder.load_state_dict(fresh(pretrained, seed_for(cell.seed, 11)).encoder.state_dict())
            try:
                line, answers = self._cell(cell, pretrained, shared, timed)
            except Mistake as mistake:  # such as a gradient that is not a number: the others go on
                line, answers = {**_facts(cell), "error": str(mistake)}, None
                if running := self._running(cell):
                    shutil.rmtree(running, ignore_errors=True)  # it would only fail again
            finally:
                if cell.settings.changes_encoder:
                    pretrained.encoder.eval().load_state_dict(given.encoder.state_dict())
            self.results.add(line, answers)
            yield cell, line

    def _cell(
        self, cell: Cell, pretrained: Pretrained, shared: Shared, timed: set[object]
    ) -> tuple[Line, dict[str, Any]]:
        data = subset(self.parts.train, cell.n_labels, cell.seed, self.task in ("classify", "pair"))
        watch, running = Watch(self.tell), self._running(cell)
        resumed = running is not None and (running / "checkpoints").is_dir()
        before, clears, began = shared.seconds, forget_peak(), time.monotonic()
        fitted = fit(pretrained, self.task, data, cell.settings, self.parts.valid, running, watch.hear, shared)
        seconds = time.monotonic() - began
        encoding = shared.seconds - before
        peak = peak_bytes() if clears else None
        answers, speed = self._measure(fitted, shared, cell, timed)
        cost = {
            "seconds": seconds - encoding, "encoding_seconds": encoding if watch.encoded else None,
            "found_in_cache": None if cell.way.tune != "frozen" else not watch.encoded, "resumed": resumed,
            "peak_bytes": peak, "words_per_second": speed,
        }  # fmt: skip
        line = {
            **_facts(cell), "scores": fitted.kind.scores(self.parts.test, answers), "held_out": fitted.metrics,
            "curve": _logged(running) if running else watch.curve, "parameters": _learned(fitted),
            "mix": fitted.top.mix.facts() if fitted.top.mix else None, "said": watch.said, "cost": cost,
        }  # fmt: skip
        if running is not None:
            shutil.rmtree(running, ignore_errors=True)
        return line, _stored(answers)

    def _measure(
        self, fitted: Fitted, shared: Shared, cell: Cell, timed: set[object]
    ) -> tuple[list[Prediction], float | None]:
        """What the model says of the test, and how many words a second it reads.

        A frozen encoder has read the test already. How fast it does is measured once for all its heads of a kind.
        """
        inputs, frozen = list(self.parts.test.inputs), cell.way.tune == "frozen"
        if frozen and cell.way in timed:
            return said(fitted, inputs, shared), None
        timed.add(cell.way)
        some = inputs[:_TIMED]
        began = time.monotonic()
        first = fitted.predict(some)
        seconds = time.monotonic() - began
        rest = [] if frozen or len(some) == len(inputs) else fitted.predict(inputs[_TIMED:])
        return said(fitted, inputs, shared) if frozen else first + rest, sum(map(n_words, some)) / max(seconds, 1e-9)

    def _running(self, cell: Cell) -> Path | None:
        """Where a long fit is saved on the way."""
        epochs = cell.settings.epochs or MOST_EPOCHS  # as few labels as come near the bound have
        if cell.way.tune == "frozen" or cell.n_labels * epochs < _LONG:
            return None
        return self.folder / "running" / cell.id

    def _all_inputs(self) -> list[Any]:
        """Of all cells, done ones too: so the kept layers are found again by a comparison that goes on."""
        train, classes = self.parts.train, self.task in ("classify", "pair")
        wanted = {(cell.n_labels, cell.seed) for cell in self.plan.cells}
        found: list[Any] = []
        if any(n_labels == len(train) for n_labels, _ in wanted):
            found += train.inputs
        else:
            for n_labels, seed in sorted(wanted):
                found += subset(train, n_labels, seed, classes).inputs
        return [*found, *(self.parts.valid.inputs if self.parts.valid else ()), *self.parts.test.inputs]


@dataclass
class Watch:
    """Hears what a fit tells, and keeps what a report needs of it."""

    tell: Tell
    curve: list[dict[str, float]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    encoded: bool = False
    _done: float = 0.0

    def hear(self, report: Report) -> None:
        if report.stage == "Encoding":
            self.encoded = True
        elif report.said:
            self.said.append(report.said)
        elif report.stage == "Fitting":
            if report.done < self._done:  # begun again with another seed
                self.curve.clear()
            self._done = report.done
            if report.metrics is not None and report.loss is not None:
                self.curve.append({"epoch": len(self.curve) + 1, "loss": report.loss, **report.metrics})
        self.tell(report)


def n_words(one: Any) -> int:
    """The words of an example: of one text, of its words, or of two texts."""
    if isinstance(one, tuple):
        return sum(map(n_words, one))
    return len(one) if isinstance(one, list) else len(to_text(one).spans)


def _facts(cell: Cell) -> Line:
    way = cell.way
    return {
        "id": cell.id, "encoder": way.encoder, "family": way.family, "scratch": way.scratch, "layers": way.layers,
        "tune": way.tune, "labels": cell.n_labels, "seed": cell.seed,
    }  # fmt: skip


def _learned(fitted: Fitted) -> int:
    parts = [fitted.top, *([] if fitted.settings.tune == "frozen" else [fitted.pretrained.encoder])]
    return sum(parameter.numel() for part in parts for parameter in part.parameters())


def _stored(answers: list[Prediction]) -> dict[str, Any]:
    chances = [round(max(one.scores.values()), 4) for one in answers if one.scores]
    return {"labels": [one.label for one in answers], "chances": chances or None}


def _logged(running: Path) -> list[dict[str, float]]:
    """The curve from the log of a fit that may have been killed on the way."""
    path = running / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    kept = [{name: value for name, value in line.items() if name not in ("step", "rate")} for line in lines]
    return [{"epoch": epoch, **line} for epoch, line in enumerate(kept, 1)]
