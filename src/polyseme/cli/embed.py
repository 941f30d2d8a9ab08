"""polyseme embed: texts to vectors."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer


def run(
    model: Path = typer.Argument(help="A file or folder of any known format."),
    texts: Path = typer.Argument(help="A text a line, or a table (csv, tsv, jsonl); - reads standard input."),
    out: Path | None = typer.Option(None, "--out", "-o", help="Where to: .npz, .npy, .parquet or .h5."),
    layers: str = typer.Option("top", help="top, mix (their mean), last4, all, or a layer's number; 0 has no context."),
    level: str = typer.Option("word", help="A vector a word, piece or text."),
    text: str | None = typer.Option(None, help="The column of the text, where it is a table."),
    precision: str = typer.Option("float32", help="int8 is about twice as fast with BERT and ELMo, and less exact."),
    split: bool = typer.Option(False, "--split", help="The lines are words with spaces between them already."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON line a text."),
    force: bool = typer.Option(False, "--force", help="Overwrite what is there."),
) -> None:
    """Turn texts into vectors, one a word, a piece or a text."""
    from polyseme.cli import vector_files
    from polyseme.cli.inputs import read_texts, split_words
    from polyseme.cli.progress import Stages
    from polyseme.files import new_file
    from polyseme.formats import load

    write = vector_files.writer(out, level) if out else None
    with Stages() as stages:
        inputs = read_texts(texts, text, stages.say)
        if split:
            inputs = split_words(inputs)
        stream = load(model, precision).stream(inputs, layers=_layers(layers), level=level)  # type: ignore[arg-type]
        told = _told(stream, len(inputs), stages)
        if out and write:
            with new_file(out, force) as temporary:
                write(temporary, told)
            print(out)
        else:
            _print(told, as_json)


def _layers(layers: str) -> str | int:
    return int(layers) if layers.removeprefix("-").isdecimal() else layers


def _told(stream: Iterable[Any], total: int, stages: Any) -> Iterator[Any]:
    for done, embedded in enumerate(stream, 1):
        yield embedded
        stages.show("Embedding", done, total, f"{done:,} texts")


def _print(stream: Iterable[Any], as_json: bool) -> None:
    for embedded in stream:
        if as_json:
            vectors = embedded.vectors.tolist()
            print(
                json.dumps(
                    {"text": embedded.text.string, "rows": embedded.rows, "vectors": vectors}, ensure_ascii=False
                )
            )
            continue
        print(embedded.text.string)
        top = embedded.vectors[-1] if embedded.vectors.ndim == 3 else embedded.vectors
        for row, vector in zip(embedded.rows if len(embedded.rows) == len(top) else ["(text)"], top, strict=True):
            print(f"  {row:<16} {' '.join(f'{value:7.3f}' for value in vector[:8])} … ({len(vector)} numbers)")
