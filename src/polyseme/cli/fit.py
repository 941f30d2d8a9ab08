"""polyseme fit: an encoder and labelled examples to a fitted model."""

import json
from pathlib import Path
from typing import Any

import typer

LISTS = ("--set", "--domain-text")


def run(
    task: str = typer.Argument(help="classify, pair, regress, tag or span."),
    data: Path = typer.Argument(help="Labelled examples: csv, tsv, jsonl; CoNLL for tag; SQuAD's JSON for span."),
    encoder: Path = typer.Option(Path("bert-starter"), "--encoder", "-e", help="A model of any known format."),
    out: Path = typer.Option(..., "--out", "-o", help="The run's folder; the fitted model is found there afterwards."),
    layers: str = typer.Option("top", help="What the head reads: top, mix, last4 or the number of a layer."),
    tune: str = typer.Option("frozen", help="What learns: frozen (the head alone), full or gradual."),
    head: str | None = typer.Option(None, help="linear, bilstm, or ulmfit for whole texts."),
    pool: str | None = typer.Option(None, help="How words become a text: mean, concat, first or pooler."),
    crf: bool = typer.Option(False, "--crf", help="A CRF over the tags of a sentence."),
    epochs: int | None = typer.Option(None, help="Times through the examples."),
    seed: int = typer.Option(0, help="The seed of everything random."),
    valid: Path | None = typer.Option(None, help="Examples to measure epochs on; else a tenth is held out."),
    test: Path | None = typer.Option(None, help="Examples to measure the fitted model on."),
    limit: int | None = typer.Option(None, min=1, help="Learn from this many examples, chosen by the seed."),
    domain_epochs: int = typer.Option(
        0, min=0, help="First go on with the encoder's pretraining on the examples' own text, so many times through."
    ),
    domain_text: list[str] = typer.Option([], help="Further text without labels for --domain-epochs."),
    text: str | None = typer.Option(None, help="The column of the text."),
    text_a: str | None = typer.Option(None, help="The column of a pair's first text."),
    text_b: str | None = typer.Option(None, help="The column of a pair's second text."),
    label: str | None = typer.Option(None, help="The column of the label, score or tag."),
    changes: list[str] = typer.Option([], "--set", help="Other settings, such as batch_size=16 rate=1e-4."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Fit a head, and as much of the encoder as --tune says. Killed at any moment, the same command goes on."""
    from polyseme.adapt.runs import FitRun
    from polyseme.cli.progress import Stages
    from polyseme.domain import Domain
    from polyseme.tasks.reading import Columns
    from polyseme.train.changes import change
    from polyseme.train.report import Report

    if domain_text and not domain_epochs:
        raise typer.BadParameter("--domain-text is read in --domain-epochs: say how many.")
    chosen = {"layers": layers, "tune": tune, "head": head, "pool": pool, "crf": crf, "epochs": epochs, "seed": seed}
    begin = FitRun(task, data, encoder, out, {**chosen, **dict(map(change, changes))}, valid, test, limit,
                   Columns(text, text_a, text_b, label),
                   Domain(domain_epochs, tuple(domain_text)) if domain_epochs else None)  # fmt: skip
    with Stages() as stages:

        def tell(report: Report) -> None:
            if report.said:
                stages.say(report.said)
            else:
                stages.show(report.stage, report.done, report.total, report.note)
            if report.metrics:
                shown = " · ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in report.metrics.items())
                stage = "" if report.stage == "Fitting" else f"{report.stage}, step {report.done:,.0f} · "
                stages.say(f"{stage}{report.note}: held out {shown}")

        result = begin.run(tell)
    if as_json:
        print(json.dumps({"out": str(out), **result}))
        return
    for name, facts in result.items():
        if isinstance(facts, dict) and facts:
            shown = {key: value for key, value in facts.items() if key != "score"}  # which is the first of the others
            print(f"{name}: " + " · ".join(f"{key.replace('_', ' ')} {_shown(value)}" for key, value in shown.items()))
    print(out)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(f"{one:.2f}" for one in value)
    return f"{value:.4f}" if isinstance(value, float) else str(value)
