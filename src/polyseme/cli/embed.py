"""polyseme embed: texts to vectors."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer


def run(
    model: Path = typer.Argument(help="A file or folder of any known format."),
    texts: Path = typer.Argument(help="A text a line; - reads standard input."),
    out: Path | None = typer.Option(None, "--out", "-o", help="Where to: .npz, .npy, .parquet or .h5."),
    layers: str = typer.Option("top", help="top, mix (their mean), last4, all, or a layer's number; 0 has no context."),
    level: str = typer.Option("word", help="A vector a word, piece or text."),
    split: bool = typer.Option(False, "--split", help="The lines are words with spaces between them already."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON line a text."),
    force: bool = typer.Option(False, "--force", help="Overwrite what is there."),
) -> None:
    """Turn texts into vectors, one a word, a piece or a text."""
    from polyseme.cli import vector_files
    from polyseme.cli.progress import Stages
    from polyseme.files import new_file
    from polyseme.formats import load

    write = vector_files.writer(out, level) if out else None
    lines = read_lines(texts)
    inputs: list[Any] = [line.split() for line in lines] if split else lines
    stream = load(model).stream(inputs, layers=_layers(layers), level=level)  # type: ignore[arg-type]
    with Stages() as stages:
        told = _told(stream, len(lines), stages)
        if out and write:
            with new_file(out, force) as temporary:
                write(temporary, told)
            print(out)
        else:
            _print(told, as_json)


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, or of standard input for -."""
    from polyseme.errors import BadData

    content = sys.stdin.buffer.read() if str(path) == "-" else _bytes(path)
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadData("this is not UTF-8. Save the file as UTF-8.", path, line) from None
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def _bytes(path: Path) -> bytes:
    from polyseme.errors import BadFile

    try:
        return path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None


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
