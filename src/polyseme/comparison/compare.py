"""A comparison from its data and encoders to its table and page."""

from __future__ import annotations

import hashlib
import json
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from polyseme.adapt.data import Data
from polyseme.adapt.kinds import check_task
from polyseme.comparison.measures import Measure, chosen
from polyseme.comparison.plan import Axes, Cell, Plan, plan
from polyseme.comparison.report import page
from polyseme.comparison.results import Line, Results
from polyseme.comparison.run import Runner
from polyseme.comparison.sources import Named, Source, sources
from polyseme.comparison.subsets import Parts, parted
from polyseme.comparison.table import Row, remarks, rows
from polyseme.comparison.text import text_table
from polyseme.errors import BadFile, Mistake
from polyseme.files import json_object, locked, write_file
from polyseme.tasks.reading import Columns, read, strange
from polyseme.train.claim import refuse_strangers
from polyseme.train.report import Report

Tell = Callable[[Report], None]
Examples = str | Path | Data | tuple[Sequence[Any], Sequence[Any]]

COMPARISON, REPORT = "comparison.json", "report.html"


@dataclass(frozen=True)
class Table:
    """What came out: rows, what there is to know about them, and where the page is."""

    rows: list[Row]
    score: str
    said: tuple[str, ...]
    folder: Path

    @property
    def report(self) -> Path:
        return self.folder / REPORT

    def __str__(self) -> str:
        return text_table(self.rows, self.score)

    def show(self) -> None:
        """Open the page in a browser."""
        webbrowser.open(self.report.absolute().as_uri())


@dataclass(frozen=True)
class Comparison:
    """What was asked for, with data read and cells planned."""

    task: str
    parts: Parts
    plan: Plan
    sources: list[Source]
    measure: Measure
    folder: Path
    title: str
    axes: Axes

    @property
    def said(self) -> tuple[str, ...]:
        return (*self.parts.said, *self.plan.said)

    def steps(self, tell: Tell = lambda report: None) -> Iterator[tuple[Cell, Line]]:
        """Run what is not done yet; each fit as soon as it is done, those of earlier runs first."""
        with locked(self.folder):
            self._claim()
            results = Results(self.folder, mend=True)
            yield from [(cell, results.lines[cell.id]) for cell in self.plan.cells if results.has(cell.id)]
            runner = Runner(self.task, self.parts, self.plan, self.sources, results, self.folder, tell)
            yield from runner.run()

    def table(self) -> Table:
        """The rows of what is done, and the page about them."""
        results = Results(self.folder)
        found = rows(self.plan, results, self.measure, self.parts.test)
        said = (*self.said, *remarks(self.plan, results.lines))
        made = Table(found, self.measure.name, said, self.folder)
        write_file(made.report, page(self.title, self.task, self.measure, found, self.parts, self.plan, results, said))
        return made

    def _claim(self) -> None:
        """Other data would make other rows; other encoders, seeds or label counts only add some."""
        path, facts = self.folder / COMPARISON, {"task": self.task, "data": digest(self.parts)}
        refuse_strangers(self.folder, COMPARISON, "comparison")
        begun = _begun(path) if path.is_file() else facts
        if changed := [name for name in facts if begun.get(name) != facts[name]]:
            raise Mistake(
                f"{self.folder} was begun with another {' and '.join(changed)}. Give the same to go on, or choose "
                "another folder with --out."
            )
        write_file(path, json.dumps({**facts, "title": self.title, "axes": asdict(self.axes)}, indent=1))


def comparison(
    task: str, data: Examples, encoders: Sequence[Named] | Mapping[str, Named], axes: Axes, out: str | Path,
    test: Examples | None = None, valid: Examples | None = None, score: str | None = None,
    columns: Columns = Columns(), tell: Tell = lambda report: None,
) -> Comparison:  # fmt: skip
    """Read, part and plan; nothing is fitted yet."""
    check_task(task)
    folder = Path(out)
    refuse_strangers(folder, COMPARISON, "comparison")
    axes.check()
    train = _data(task, data, columns, tell)
    found = [_data(task, one, columns, tell, train) if one is not None else None for one in (test, valid)]
    parts = parted(train, *found)
    measure = chosen(task, [*parts.train.labels, *parts.test.labels], score)
    loaded = sources(encoders)
    made = plan(task, axes, loaded, parts.train, digest(parts))
    title = f"{task} · {Path(data).name}" if isinstance(data, str | Path) else task
    return Comparison(task, parts, made, loaded, measure, folder, title, axes)


def compare(
    task: str,
    data: Examples,
    encoders: Sequence[Named] | Mapping[str, Named],
    *,
    layers: str | int | Sequence[str | int] = "top",
    tune: str | Sequence[str] = "frozen",
    seeds: int | Sequence[int] = 3,
    labels: int | Literal["all"] | Sequence[int | Literal["all"]] = "all",
    scratch: bool = False,
    test: Examples | None = None,
    valid: Examples | None = None,
    score: str | None = None,
    out: str | Path = "runs/compare",
    tell: Tell = lambda report: None,
    **settings: Any,
) -> Table:
    """Fit every combination and rank them. Killed at any moment, the same call goes on where it was.

    `data` is a file, or inputs and labels; encoders are names, paths or Pretrained, with names of their own in a
    dict. `settings` are those of polyseme.adapt.settings, the same for all: head, epochs, batch_size, …
    """
    chosen_seeds = range(seeds) if isinstance(seeds, int) else seeds
    axes = Axes(
        _several(layers), _several(tune), _several(labels), _several(chosen_seeds), scratch,
        tuple(sorted(settings.items())),
    )  # fmt: skip
    asked = comparison(task, data, encoders, axes, out, test, valid, score, tell=tell)
    for _ in asked.steps(tell):
        pass
    return asked.table()


def digest(parts: Parts) -> str:
    """A hash of all examples, and of what each is for."""
    found = hashlib.sha256()
    for part in (parts.train, parts.valid, parts.test):
        for one in zip(part.inputs, part.labels, strict=True) if part is not None else ():
            found.update(json.dumps(one, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
        found.update(b"\x00")
    return found.hexdigest()


def _begun(path: Path) -> dict[str, Any]:
    if (found := json_object(path)) is None:
        raise BadFile(f"{path} is damaged, so it cannot be told what was compared. Choose another folder with --out.")
    return found


def _data(task: str, examples: Examples, columns: Columns, tell: Tell, train: Data | None = None) -> Data:
    if isinstance(examples, Data):
        return examples
    if isinstance(examples, tuple) and len(examples) == 2:
        return Data(*(list(part) for part in examples))
    if not isinstance(examples, str | Path):
        raise Mistake(f"Examples are a file, or (inputs, labels); found {examples!r:.60}.")
    found = read(task, Path(examples), columns)
    for line in found.said:
        tell(Report("Reading", 1, 1, said=line))
    if train and (said := strange(task, found, train.labels, "what is learned from")):
        tell(Report("Reading", 1, 1, said=said))
    return Data(found.inputs, found.labels)


def _several(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, str | int) else tuple(values)
