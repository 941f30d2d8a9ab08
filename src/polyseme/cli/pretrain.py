"""polyseme pretrain: raw text to an encoder."""

import json
from pathlib import Path

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
    recipes: bool = typer.Option(False, "--recipes", help="List the recipes with their settings."),
) -> None:
    """Make an encoder from raw text. Killed at any moment, the same command goes on where it was."""
    from polyseme.pretrain import RECIPES

    if recipes:
        for name, one in RECIPES.items():
            print(f"{name}: {json.dumps(one.model_dump(), ensure_ascii=False)}")
        return
    if not recipe or not corpus or out is None:
        raise typer.BadParameter("polyseme pretrain RECIPE --corpus FILE … --out FOLDER; --recipes lists the recipes")
    _pretrain(recipe, corpus, out, valid, init, [*changes, *([f"seed={seed}"] if seed is not None else [])], split)


def _pretrain(
    name: str, corpus: list[str], out: Path, valid: list[str], init: Path | None, changes: list[str], split: bool
) -> None:
    from polyseme.cli.progress import Stages
    from polyseme.pretrain import pretrain, recipe
    from polyseme.pretrain.run import Report

    with Stages() as stages:

        def tell(report: Report) -> None:
            stages.show(report.stage, report.done, report.total, report.note)
            if report.metrics:
                shown = " · ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in report.metrics.items())
                stages.say(f"step {report.done:,.0f}: {shown}")

        pretrain(recipe(name, changes), corpus, out, valid, init, split, tell)
    print(out)
