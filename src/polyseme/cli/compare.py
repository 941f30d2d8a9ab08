"""polyseme compare: encoders, layers, tunings, seeds and label counts beside each other."""

import json
from pathlib import Path
from typing import Any

import typer

LISTS = ("--encoder", "-e", "--layers", "--tune", "--labels", "--set")


def run(
    task: str = typer.Argument(help="classify, pair, regress, tag or span."),
    data: Path = typer.Argument(help="Labelled examples: csv, tsv, jsonl; CoNLL for tag; SQuAD's JSON for span."),
    encoder: list[str] = typer.Option(
        [], "--encoder", "-e", help="Models of any known format, as PATH or NAME=PATH; else those in the box."
    ),
    layers: list[str] = typer.Option(["top"], help="What heads read: top, mix, last4 or the number of a layer."),
    tune: list[str] = typer.Option(["frozen"], help="What learns: frozen (the head alone), full or gradual."),
    seeds: int = typer.Option(3, min=1, help="How many times each is fitted."),
    labels: list[str] = typer.Option(["all"], help="How many labels are learned from, such as 100 1000 all."),
    scratch: bool = typer.Option(False, "--scratch", help="Also fit each encoder from scratch."),
    test: Path | None = typer.Option(None, help="Examples to measure on; else a fifth is split off."),
    valid: Path | None = typer.Option(None, help="Examples to measure epochs on; else a tenth is held out."),
    score: str | None = typer.Option(None, help="What rows are ranked by; else the task's first score."),
    out: Path = typer.Option(Path("runs/compare"), "--out", "-o", help="The comparison's folder."),
    head: str | None = typer.Option(None, help="linear, bilstm, or ulmfit for whole texts."),
    pool: str | None = typer.Option(None, help="How words become a text: mean, concat, first or pooler."),
    crf: bool = typer.Option(False, "--crf", help="A CRF over the tags of a sentence."),
    epochs: int | None = typer.Option(None, help="Times through the examples."),
    text: str | None = typer.Option(None, help="The column of the text."),
    text_a: str | None = typer.Option(None, help="The column of a pair's first text."),
    text_b: str | None = typer.Option(None, help="The column of a pair's second text."),
    label: str | None = typer.Option(None, help="The column of the label, score or tag."),
    changes: list[str] = typer.Option([], "--set", help="Other settings for all fits, such as batch_size=16."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Fit every combination, rank them, and write a page about it. Killed at any moment, the same command goes on."""
    from polyseme.cli.live import Live
    from polyseme.comparison.compare import comparison
    from polyseme.comparison.plan import Axes
    from polyseme.errors import Mistake
    from polyseme.starters import starters
    from polyseme.tasks.reading import Columns
    from polyseme.train.changes import change

    chosen: dict[str, Any] = {"head": head, "pool": pool, "crf": crf, "epochs": epochs, **dict(map(change, changes))}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    axes = Axes(
        tuple(layers), tuple(tune), tuple(map(_count, labels)), tuple(range(seeds)), scratch,
        tuple(sorted(chosen.items())),
    )  # fmt: skip
    with Live() as live:
        encoders, columns = encoder or list(starters()), Columns(text, text_a, text_b, label)
        asked = comparison(task, data, encoders, axes, out, test, valid, score, columns, live.tell)
        live.begin(asked)
        for cell, line in asked.steps(live.tell):
            live.done(cell, line)
        table = asked.table()
    if not table.rows:
        raise Mistake("No fit came to its end. What went wrong with each stands above.")
    if as_json:
        facts = {"out": str(out), "report": str(table.report), "score": table.score, "said": table.said}
        print(json.dumps({**facts, "rows": [row.facts() for row in table.rows]}))
        return
    print(table)
    print(table.report)


def _count(labels: str) -> Any:
    from polyseme.errors import Mistake

    if labels == "all":
        return labels
    digits = labels.replace(",", "").replace("_", "")
    if not digits.isdecimal():
        raise Mistake(f"--labels {labels!r} is no number of labels. Write numbers, or all.")
    return int(digits)
