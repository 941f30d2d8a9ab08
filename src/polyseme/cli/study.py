"""polyseme study: many small runs that differ in one thing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from polyseme.train.report import Report

LISTS = ("--rates", "--corpus", "--valid", "--set", "--fit")


def run(
    kind: str = typer.Argument(help="mask-rate (pretrainings at several rates) or layers (what a head reads)."),
    out: Path = typer.Option(..., "--out", "-o", help="The study's folder: a run each, and the picture."),
    task: str | None = typer.Option(None, help="What to fit to: classify, pair, regress, tag or span."),
    data: Path | None = typer.Option(None, help="Labelled examples of the task."),
    test: Path | None = typer.Option(None, help="Examples to measure on; else what is held out counts."),
    fit: list[str] = typer.Option([], "--fit", help="Settings of the fits, such as epochs=3 head=bilstm."),
    rates: list[float] = typer.Option([0.15, 0.4, 0.8], "--rates", help="mask-rate: the rates."),
    recipe: str = typer.Option("bert-tiny", help="mask-rate: what is pretrained; see pretrain --recipes."),
    corpus: list[str] = typer.Option([], "--corpus", help="mask-rate: the text."),
    valid: list[str] = typer.Option([], "--valid", help="mask-rate: text held out; else a part of the corpus is."),
    changes: list[str] = typer.Option([], "--set", help="mask-rate: changes of the recipe, such as steps=500."),
    encoder: Path | None = typer.Option(None, "--encoder", "-e", help="layers: the encoder, which stays frozen."),
    seeds: int = typer.Option(1, min=1, help="layers: how many seeds; two or more give intervals."),
    limit: int | None = typer.Option(None, min=1, help="layers: learn from this many examples."),
    label: str | None = typer.Option(None, help="layers: the column of the label or tag."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON line a row."),
) -> None:
    """Make a table and a picture from runs that differ in one thing. Killed at any moment, the same command goes on."""
    from polyseme.cli.progress import Stages
    from polyseme.errors import Mistake
    from polyseme.lens import pictures

    pictures.check_place(out / "study.png", force=True)
    with Stages() as stages:
        match kind:
            case "mask-rate":
                _refuse_without(**{"--corpus": corpus})
                rows = _mask_rate(stages, rates, recipe, corpus, valid, changes, out, task, data, test, fit)
                values = ["masked_loss", "masked_accuracy", *([rows[0]["score_name"]] if task else [])]
                figure = pictures.panels(
                    _drawn(rows), "rate", values, f"{recipe}: masked in pretraining, measured at 15 %"
                )
            case "layers":
                _refuse_without(**{"--encoder": encoder, "--task": task, "--data": data})
                rows = _layers(stages, encoder, task, data, out, test, seeds, fit, limit, label)
                figure = pictures.bars(
                    _drawn(rows),
                    "layers",
                    rows[0]["score_name"],
                    f"{encoder.name if encoder else ''}: {task}",
                    dots=True,
                )
            case _:
                raise Mistake(f"There is no study {kind!r}; there are mask-rate and layers.")
    pictures.save(figure, out / "study.png", force=True)
    _print(rows, out, as_json)


def _mask_rate(
    stages: Any, rates: list[float], recipe: str, corpus: list[str], valid: list[str], changes: list[str], out: Path,
    task: str | None, data: Path | None, test: Path | None, fit: list[str],
) -> list[dict[str, Any]]:  # fmt: skip
    from dataclasses import asdict

    from polyseme.lens.mask_rate import Task, mask_rate
    from polyseme.train.changes import change

    then = None
    if task:
        _refuse_without(**{"--data": data})
        assert data is not None
        then = Task(task, data, test, {"tune": "full", **dict(map(change, fit))})
    found = mask_rate(rates, recipe, corpus, out, changes, valid, then, _tell(stages))
    return [{key: value for key, value in asdict(row).items() if value is not None} for row in found]


def _layers(
    stages: Any, encoder: Path | None, task: str | None, data: Path | None, out: Path, test: Path | None, seeds: int,
    fit: list[str], limit: int | None, label: str | None,
) -> list[dict[str, Any]]:  # fmt: skip
    from dataclasses import asdict

    from polyseme.lens.layer_study import layers_of
    from polyseme.tasks.reading import Columns
    from polyseme.train.changes import change

    assert encoder is not None
    assert task is not None
    assert data is not None
    columns = Columns(label=label)
    found = layers_of(encoder, task, data, out, test, seeds, dict(map(change, fit)), limit, columns, _tell(stages))
    return [asdict(row) for row in found]


def _refuse_without(**wanted: Any) -> None:
    if absent := [name for name, given in wanted.items() if not given]:
        raise typer.BadParameter(f"{', '.join(absent)} is missing")


def _tell(stages: Any) -> Callable[[Report], None]:
    def tell(report: Report) -> None:
        stages.show(report.stage, report.done, report.total, report.note)
        if report.said:
            stages.say(report.said)

    return tell


def _drawn(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The score by its own name, and without intervals where there are none."""
    named = [{**row, row.get("score_name") or "score": row.get("score")} for row in rows]
    return [{key: value for key, value in row.items() if value is not None} for row in named]


def _print(rows: list[dict[str, Any]], out: Path, as_json: bool) -> None:
    from polyseme.cli.lens import table

    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    shown = [
        {**row, "weights": " ".join(f"{w:.2f}" for w in row["weights"])} if row.get("weights") else row for row in rows
    ]
    print(table([{key: value for key, value in row.items() if value is not None} for row in shown]))
    print(out / "study.png")
