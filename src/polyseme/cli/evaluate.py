"""polyseme evaluate: how right a fitted model is on labelled examples."""

import json
from pathlib import Path

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
    from polyseme.tasks.report import report

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

    scores = fitted.kind.scores(Data(found.inputs, found.labels), said)
    if as_json:
        print(json.dumps({**scores, "examples": len(said)}))
        return
    if task in ("classify", "pair"):
        print(report([str(label) for label in found.labels], [str(one.label) for one in said]).text(), end="\n\n")
    for name, value in scores.items():
        print(f"{name.replace('_', ' ')}: {value:.4f}")
