"""polyseme neighbors: the words nearest to a word."""

import json
from pathlib import Path

import typer


def run(
    model: Path = typer.Argument(help="A file or folder of static vectors."),
    word: str = typer.Argument(help="The word."),
    n: int = typer.Option(10, "--n", "-n", min=1, help="How many."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List the words nearest to a word, by cosine."""
    from polyseme.formats import load
    from polyseme.lens.neighbours import Neighbours

    nearest = Neighbours.of(load(model)).nearest(word, n)
    if as_json:
        print(json.dumps([{"word": near, "cosine": round(cosine, 6)} for near, cosine in nearest], ensure_ascii=False))
        return
    longest = max((len(near) for near, _ in nearest), default=0)
    for near, cosine in nearest:
        print(f"{near:<{longest}}  {cosine:.3f}  {'█' * round(30 * max(cosine, 0))}")
