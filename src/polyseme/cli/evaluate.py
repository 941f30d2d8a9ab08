"""polyseme evaluate: how right a fitted model is on labelled examples."""

import json
from pathlib import Path
from typing import Any

import typer


def run(
    model: Path = typer.Argument(help="A fitted model, or the folder of its run."),
    data: Path = typer.Argument(help="Labelled examples, as for fit."),
    text: str | None = typer.Option(None, help="The column of the text."),
    text_a: str | None = typer.Option(None, help="The column of a pair's first text."),
    text_b: str | None = typer.Option(None, help="The column of a pair's second text."),
    label: str | None = typer.Option(None, help="The column of the label, score or tag."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Measure a fitted model on examples it has not seen, class by class where there are classes."""
    from polyseme.adapt.folder import load_fitted
    from polyseme.cli.progress import Stages
    from polyseme.tasks.reading import Columns, read, strange

    fitted, task = load_fitted(model)
    with Stages() as stages:
        found = read(task, data, Columns(text, text_a, text_b, label))
        for line in found.said:
            stages.say(line)
        names = getattr(fitted.kind, "names", ())
        if doubt := strange(task, found, names, f"what {model} learned from"):
            stages.say(doubt)
        said = []
        for one in fitted.stream(found.inputs):
            said.append(one)
            stages.show("Evaluating", len(said), len(found.inputs))
    from polyseme.adapt.data import Data

    measured = Data(found.inputs, found.labels)
    scores, told = fitted.kind.scores(measured, said), fitted.kind.report(measured, said)
    if as_json:
        classes = {"classes": {str(one.label): _facts(one) for one in told.classes}} if told else {}
        print(json.dumps({**scores, "examples": len(said), **classes}, ensure_ascii=False))
        return
    if told:
        print(told.text(), end="\n\n")
    for name, value in scores.items():
        print(f"{name.replace('_', ' ')}: {value:.4f}")


def _facts(one: Any) -> dict[str, Any]:
    facts: dict[str, Any] = one._asdict()
    return {name: value for name, value in facts.items() if name != "label"}
