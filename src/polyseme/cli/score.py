"""polyseme score: how likely a language model finds texts."""

import json
import math
from pathlib import Path
from typing import Any

import typer


def run(
    model: Path = typer.Argument(help="A language model: a folder or file with its output layer."),
    texts: Path = typer.Argument(help="A sentence a line, or a table (csv, tsv, jsonl); - reads standard input."),
    text: str | None = typer.Option(None, help="The column of the text, where it is a table."),
    split: bool = typer.Option(False, "--split", help="The lines are words with spaces between them already."),
    within_word: bool = typer.Option(
        False, "--within-word", help="BERT: mask the later pieces of a word with each of its pieces."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON line a sentence, then one for all."),
) -> None:
    """Tell the perplexity of sentences and of all together, each sentence read on its own; BERT's is a
    pseudo-perplexity a piece."""
    from polyseme.cli.inputs import read_texts, split_words
    from polyseme.cli.progress import Stages
    from polyseme.errors import Mistake
    from polyseme.formats import load
    from polyseme.lens.score import Score, score, total

    found: list[Score] = []
    with Stages() as stages:
        inputs = [one for one in read_texts(texts, text, stages.say) if not isinstance(one, str) or one.strip()]
        if not inputs:
            raise Mistake(f"There is no sentence in {texts}. Wanted: a sentence a line.")
        if split:
            inputs = split_words(inputs)
        for one in score(load(model), inputs, within_word):
            found.append(one)
            stages.show("Scoring", len(found), len(inputs))
    for one in found:
        _print(one, one.text.string, as_json)
    _print(total(found), None, as_json)


def _print(one: Any, string: str | None, as_json: bool) -> None:
    ways = {way: one.perplexity(way) for way in one.nll}
    if as_json:
        numbers = {"perplexity": one.perplexity(), **ways, "bits_per_byte": one.bits_per_byte()}
        known = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        facts = {"text": string, **known, "predicted": one.n_predicted, "unknown": one.n_unknown}
        print(json.dumps(facts, ensure_ascii=False))
        return
    what = "pseudo-perplexity" if list(ways) == ["pseudo"] else "perplexity"
    each = f" ({' · '.join(f'{way} {value:,.1f}' for way, value in ways.items())})" if len(ways) > 1 else ""
    unknown = f" · {one.n_unknown} unknown, all counted as one word" if one.n_unknown else ""
    name = string if string is not None else "\nall"
    print(f"{name}\n  {what} {one.perplexity():,.1f}{each} · {one.bits_per_byte():.3f} bits a byte{unknown}")
