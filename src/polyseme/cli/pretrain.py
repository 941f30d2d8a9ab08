"""polyseme pretrain: raw text to an encoder."""

import json
import sys
from pathlib import Path
from typing import Any

import typer

LISTS = ("--corpus", "--valid", "--set")


def run(
    recipe: str | None = typer.Argument(None, help="What to make, such as static or elmo-tiny; see --recipes."),
    corpus: list[str] = typer.Option(
        [], "--corpus", help="Files, folders or globs of txt, jsonl, parquet (.gz, .zst)."
    ),
    out: Path | None = typer.Option(None, "--out", "-o", help="The run's folder; its model is found there afterwards."),
    valid: list[str] = typer.Option([], "--valid", help="Text held out; without it a part of the corpus is."),
    init: Path | None = typer.Option(None, "--init", help="A model to go on from."),
    seed: int | None = typer.Option(None, "--seed", help="The seed of everything random."),
    changes: list[str] = typer.Option([], "--set", help="A change of the recipe, such as epochs=3."),
    split: bool = typer.Option(False, "--split", help="The text is words with spaces between them already."),
    field: str = typer.Option("text", "--field", help="Where jsonl and parquet hold the text."),
    errors: str = typer.Option("strict", "--errors", help="replace reads bytes that are no UTF-8 as U+FFFD."),
    recipes: bool = typer.Option(False, "--recipes", help="List the recipes; with RECIPE, its settings."),
) -> None:
    """Make an encoder from raw text. Killed at any moment, the same command goes on where it was."""
    if recipes:
        _list(recipe, changes)
        return
    wanted = {"RECIPE": recipe, "--corpus": corpus, "--out": out}
    if absent := [name for name, given in wanted.items() if not given]:
        raise typer.BadParameter(
            f"{', '.join(absent)} is missing: polyseme pretrain RECIPE --corpus FILE … --out FOLDER"
        )
    assert recipe is not None and out is not None  # noqa: PT018
    if recipe.endswith("-domain") and init is None:
        raise typer.BadParameter(f"{recipe} goes on from a model. Name it with --init, or take another recipe.")
    changes = [*changes, *([f"seed={seed}"] if seed is not None else [])]
    reading = {"split": split, "field": field, "errors": errors}
    _pretrain(recipe, changes, out, corpus=corpus, valid=valid, init=init, **reading)


def _list(name: str | None, changes: list[str]) -> None:
    from polyseme.pretrain import ABOUT, recipe

    if name is None:
        for one, what in ABOUT.items():
            print(f"{one:<16} {what}")
        print("\nSettings of one: polyseme pretrain NAME --recipes", file=sys.stderr)
        return
    for setting, value in recipe(name, changes).model_dump().items():
        print(f"{setting:<16} {json.dumps(value)}")


def _pretrain(name: str, changes: list[str], out: Path, **options: Any) -> None:
    from polyseme.cli.progress import Stages
    from polyseme.pretrain import pretrain, recipe
    from polyseme.train.report import Report

    with Stages() as stages:

        def tell(report: Report) -> None:
            stages.show(report.stage, report.done, report.total, report.note)
            if report.said:
                stages.say(report.said)
            if report.metrics:
                shown = " · ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in report.metrics.items())
                stages.say(f"step {report.done:,.0f}: {shown}")

        pretrain(recipe(name, changes), out=out, tell=tell, **options)
    print(out)
