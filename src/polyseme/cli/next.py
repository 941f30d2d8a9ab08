"""polyseme next: whether one text follows another."""

import json
from pathlib import Path

import typer


def run(
    model: Path = typer.Argument(help="A BERT with its pooler and its next-sentence head."),
    first: str | None = typer.Argument(None, help="The first text."),
    second: str | None = typer.Argument(None, help="The text that may follow it."),
    file: Path | None = typer.Option(None, "--file", "-f", help="Pairs of texts, a tab between them; - reads stdin."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON line a pair."),
) -> None:
    """Tell how likely one text follows another, as BERT learned to."""
    pairs = _pairs(first, second, file)

    from polyseme.formats import load
    from polyseme.lens.adjacent import follows

    for (one, other), chance in zip(pairs, follows(load(model), pairs), strict=True):
        if as_json:
            print(json.dumps({"first": one, "second": other, "probability": chance}, ensure_ascii=False))
        else:
            print(f"{chance:6.1%}" if file is None else f"{chance:6.1%}\t{one}\t{other}")


def _pairs(first: str | None, second: str | None, file: Path | None) -> list[tuple[str, str]]:
    if file is None and first is not None and second is not None:
        return [(first, second)]
    if file is None or first is not None:
        raise typer.BadParameter("give two texts, or --file with pairs of them")
    return _read_pairs(file)


def _read_pairs(path: Path) -> list[tuple[str, str]]:
    from polyseme.cli.inputs import read_lines
    from polyseme.errors import BadData

    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("\t")
        if len(fields) == 2:
            pairs.append((fields[0], fields[1]))
        elif line.strip():
            raise BadData(
                f"wanted two texts with a tab between them; found {len(fields)} field{'s' * (len(fields) > 1)}.",
                path,
                number,
            )
    if not pairs:
        raise BadData("it is empty. Wanted: two texts a line, with a tab between them.", path)
    return pairs
