"""polyseme predict: what a fitted model says of texts."""

import json
from pathlib import Path
from typing import Any

import typer


def run(
    model: Path = typer.Argument(help="A fitted model, or the folder of its run."),
    data: Path = typer.Argument(
        help="Examples as for fit, labels or none; for classify, regress and tag also plain .txt or, as -, standard "
        "input: a text a line."
    ),
    text: str | None = typer.Option(None, help="The column of the text."),
    text_a: str | None = typer.Option(None, help="The column of a pair's first text."),
    text_b: str | None = typer.Option(None, help="The column of a pair's second text."),
    precision: str = typer.Option("float32", help="int8 is about twice as fast with BERT and ELMo, and less exact."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON line an example, with every class's chance."),
) -> None:
    """Print what a fitted model says, a line an example and in order; of tags a word and its tag a line, with a blank
    line behind each example."""
    from polyseme.adapt.folder import load_fitted
    from polyseme.cli.progress import Stages
    from polyseme.tasks.reading import Columns

    fitted, task = load_fitted(model)
    fitted.pretrained.compute_in(precision)  # type: ignore[arg-type]
    with Stages() as stages:
        inputs = _inputs(task, data, Columns(text, text_a, text_b), stages)
        for number, one in enumerate(fitted.stream(inputs), 1):
            print(_line(inputs[number - 1], one, task, as_json, getattr(fitted.kind, "spans", False)))
            stages.show("Predicting", number, len(inputs))


def _inputs(task: str, data: Path, columns: Any, stages: Any) -> list[Any]:
    from polyseme.cli.inputs import is_table, read_lines
    from polyseme.tasks.reading import read

    if task in ("classify", "regress", "tag") and (
        str(data) == "-" or (not is_table(data) and _has_texts(task, data, stages))
    ):
        return read_lines(data)
    found = read(task, data, columns, labelled=False)
    for line in found.said:
        stages.say(line)
    return found.inputs


def _has_texts(task: str, data: Path, stages: Any) -> bool:
    """Whether what is no table has a text a line, which words to be tagged need not have."""
    from polyseme.tasks.conll import has_columns

    if task != "tag":
        return True
    columns = has_columns(data)
    stages.say(f"{data}: read as {'columns, a word a line' if columns else 'text, a text a line'} (by how it looks)")
    return not columns


def _line(given: Any, said: Any, task: str, as_json: bool, marks_spans: bool) -> str:
    answer = given[1][slice(*said.label)] if task == "span" else None
    if as_json:
        facts = {"input": given, "label": said.label, **({"answer": answer} if task == "span" else {})}
        facts |= _tagged(given, said.label, marks_spans) if task == "tag" else {}
        return json.dumps({**facts, **({"scores": said.scores} if said.scores else {})}, ensure_ascii=False)
    if task == "tag":
        return "".join(f"{word}\t{tag}\n" for word, tag in zip(_words(given), said.label, strict=True))
    return str(answer if task == "span" else said.label)


def _words(given: Any) -> list[str]:
    from polyseme.text.words import to_text

    return to_text(given).words


def _tagged(given: Any, tags: list[str], marks_spans: bool) -> dict[str, Any]:
    """The words that were tagged and, where tags mark spans, these: of a string with the characters they are."""
    from polyseme.tasks.tags import spans
    from polyseme.text.words import to_text

    text = to_text(given)
    if not marks_spans:
        return {"words": text.words}
    found = []
    for start, end, kind in spans(tags):
        first, last = text.spans[start][0], text.spans[end - 1][1]
        where = {"start": first, "end": last} if isinstance(given, str) else {"first": start, "last": end - 1}
        found.append({"type": kind, "text": text.string[first:last], **where})
    return {"words": text.words, "spans": found}
