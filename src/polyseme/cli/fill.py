"""polyseme fill: what a language model would write in the place of [MASK]."""

import json
from pathlib import Path

import typer


def run(
    model: Path = typer.Argument(help="A language model: a folder or file with its output layer."),
    text: str = typer.Argument(help='A text with [MASK] in it, such as "The ice cream was [MASK]."'),
    n: int = typer.Option(8, "--n", "-n", min=1, help="How many words."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Fill the blank: BERT from all around it; ELMo and AWD-LSTM from what stands before it, behind it, and both."""
    from polyseme.formats import load
    from polyseme.lens.fill import fill

    fillings = fill(load(model), text, n)
    if as_json:
        print(json.dumps([filling.ways for filling in fillings], ensure_ascii=False))
        return
    for number, filling in enumerate(fillings, 1):
        if len(fillings) > 1:
            print(f"[MASK] {number}")
        _print_columns(filling.ways)


def _print_columns(ways: dict[str, list[tuple[str, float]]]) -> None:
    width = 2 + max(len(word) for words in ways.values() for word, _ in words)
    print("  ".join(f"{way:<{width + 6}}" for way in ways))
    for row in zip(*ways.values(), strict=False):
        print("  ".join(f"{word:<{width}}{chance:6.1%}" for word, chance in row))
