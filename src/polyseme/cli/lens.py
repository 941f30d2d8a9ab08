"""polyseme lens: what the layers of an encoder know, measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer

LISTS = ("--model", "-m", "--layers")

KINDS = {
    "wic": "does a word mean the same in two sentences? DATA: WiC; --test",
    "wsd": "senses by the nearest neighbour. DATA: word, sense, text; --test",
    "probe": "linear probes. DATA: CoNLL, CoNLL-U; --test; --label",
    "isotropy": "mean cosines of words, random and their own. DATA: text",
    "cka": "how alike the layers of two models are. DATA: text; --layers",
    "pairs": "minimal pairs, by language models. DATA: BLiMP's folder or files",
    "similarity": "word similarity. DATA: two words and a number a line",
    "neighbours": "words nearest to --word in --sentence. DATA: text; --layer",
}

COLUMNS = {  # what their names do not tell
    "seen": "the share that is right of words whose lemma DATA has",
    "threshold": "the cosine from which on a word counts as the same, chosen on DATA",
    "learned": "the accuracy on DATA, where the threshold was chosen",
    "control": "the accuracy where each word has a tag drawn at random: what the probe learns by heart",
    "selectivity": "accuracy less control",
    "random": "the cosine of words drawn at random",
    "self_adjusted": "self similarity less random",
    "intra_sentence": "the cosine of a word with the mean of its sentence",
    "intra_adjusted": "intra sentence less random",
    "covered": "the share of pairs both of whose words have a vector",
}


def run(
    kind: str = typer.Argument(help="What to measure: a kind from the list above."),
    data: list[Path] = typer.Argument(help="What to measure on, as the kind says; several files where it can be."),
    model: list[Path] = typer.Option(
        [], "--model", "-m", help="Models of any known format, or fitted models; else those in the box."
    ),
    test: Path | None = typer.Option(None, help="wic, wsd, probe: what is measured on; DATA is learned from."),
    inventory: Path | None = typer.Option(None, help="wsd: the senses of lemmas, the most frequent first."),
    label: str | None = typer.Option(None, help="probe: the column of the tags, such as xpos or chunk."),
    word: str | None = typer.Option(None, help="neighbours: the word."),
    sentence: str | None = typer.Option(None, help="neighbours: the sentence it stands in."),
    layer: int | None = typer.Option(None, help="neighbours: the layer; else the top."),
    layers: list[int] = typer.Option([], "--layers", help="cka: the layers to compare, such as 0 -1; else all."),
    limit: int | None = typer.Option(None, min=1, help="Sentences, or pairs a paradigm, chosen by the seed."),
    lower: bool = typer.Option(False, "--lower", help="pairs: in small letters, for models that know no others."),
    within_word: bool = typer.Option(False, "--within-word", help="pairs, BERT: as for score."),
    n: int | None = typer.Option(None, "--n", "-n", min=1, help="neighbours: how many; else 10."),
    seed: int | None = typer.Option(None, help="The seed of everything random; else 0."),
    field: str | None = typer.Option(None, help="Where jsonl and parquet hold the text; else in text."),
    out: Path | None = typer.Option(None, "--out", "-o", help="A picture: .png, .svg or .pdf."),
    force: bool = typer.Option(False, "--force", help="Overwrite what is there."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON line a row."),
) -> None:
    """Measure what the layers of encoders know, side by side, with intervals (95 %)."""
    from polyseme.cli import lens_kinds, named
    from polyseme.cli.progress import Stages
    from polyseme.lens import pictures

    asked = lens_kinds.Asked(
        data, test, inventory, label, word, sentence, layer, layers, limit, lower, within_word, n, seed, field
    )
    models = model or lens_kinds.boxed(kind)
    measure = lens_kinds.chosen(kind, asked, len(models))
    pictures.check_place(out, force)
    with Stages() as stages:
        result = measure(asked, named.each(models), stages)
        for line in result.said:
            stages.say(line)
    if out:
        pictures.save(result.picture(), out, force)
    rows = [{name: None if value != value else value for name, value in row.items()} for row in result.rows]  # no NaN
    if as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
        return
    print(table(rows))
    for name, what in COLUMNS.items():
        if rows and name in rows[0]:
            print(f"{name.replace('_', ' ')}: {what}", file=sys.stderr)
    if out:
        print(out)


run.__doc__ = f"{run.__doc__}\n\n\b\n" + "\n".join(f"{kind:<11} {purpose}" for kind, purpose in KINDS.items())


def table(rows: list[dict[str, Any]]) -> str:
    """Columns of equal width, numbers to the right.

    >>> print(table([{"layer": 0, "accuracy": 0.5}, {"layer": 12, "accuracy": None}]))
    layer  accuracy
        0     0.500
       12         -
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    heads = [name.replace("_", " ") for name in names]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    right = [not any(isinstance(row.get(name), str) for row in rows) for name in names]
    lines = [
        "  ".join(
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, right, strict=True)
        )
        for line in (heads, *cells)
    ]
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
