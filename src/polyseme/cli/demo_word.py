"""One word in six sentences, as a terminal shows it: static vectors beside those of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from polyseme.encoders import Pretrained

WORD = "crack"
SENTENCES = [  # a sense's own number stands before each
    (1, "A crack in the wall let cold air into the kitchen."),
    (1, "The plaster had a long crack above the window."),
    (2, "He was arrested with crack and two stolen phones."),
    (2, "They sold crack to addicts behind the station."),
    (3, "This puzzle is a hard nut to crack, even for experts."),
    (3, "It took them years to crack the enemy's code."),
]
_SHADES = 20  # of grey, in 256 colours


def show_sentences(console: Console) -> None:
    for number, (sense, sentence) in enumerate(SENTENCES, 1):
        console.print(f" {number}  {sentence.replace(WORD, f'[bold cyan]{WORD}[/]')}  [dim]sense {sense}[/]")
    console.print()


def show_static(console: Console, static: Pretrained) -> None:
    from polyseme.lens.neighbours import Neighbours

    words = Neighbours.of(static)
    near = ", ".join(word for word, _ in words.nearest(WORD, 12))
    size = f"{len(words.words):,} words, one vector each"
    console.print(f"[bold]static-starter[/] ({size}). Nearest to [cyan]{WORD}[/]:\n  {near}\n")


def show_matrices(console: Console, static: Pretrained, contextual: Pretrained) -> None:
    from rich.columns import Columns

    tables = [_matrix("static: always the same", static), _matrix("BERT, top layer: by its sentence", contextual)]
    console.print(f"[bold]How alike is [cyan]{WORD}[/] in two sentences?[/] Cosines of its vectors:")
    console.print(Columns(tables, padding=(0, 4)))
    console.print()


def show_layers(console: Console, name: str, contextual: Pretrained) -> None:
    """How far the senses come apart, layer by layer."""
    same, other = _pairs()
    console.print(f"[bold]{name}[/], layer by layer: the mean cosine within a sense, and between senses")
    for layer in range(len(contextual.encoder.widths)):
        cosines = _cosines(contextual, layer)
        within, between = (sum(cosines[i][j] for i, j in pairs) / len(pairs) for pairs in (same, other))
        bar = "█" * round(60 * max(0.0, within - between))
        note = "[dim]no context yet[/]" if layer == 0 else f"[cyan]{bar}[/]"
        console.print(f"  {layer}  {within:.2f}  {between:.2f}  {note}", highlight=False)
    console.print()


def _matrix(title: str, pretrained: Pretrained) -> Table:
    from rich.table import Table

    cosines = _cosines(pretrained, "top")
    table = Table(title=title, box=None, padding=(0, 1), title_style="italic")
    for name in ["", *range(1, len(SENTENCES) + 1)]:
        table.add_column(str(name), justify="right", style="dim" if name == "" else None)
    low = min(map(min, cosines))
    for number, row in enumerate(cosines, 1):
        table.add_row(str(number), *[_shaded(value, low) for value in row])
    return table


def _shaded(cosine: float, low: float) -> str:
    """A number on a ground that is the brighter the higher it is."""
    level = int(232 + _SHADES * max(0.0, (cosine - low) / max(1e-3, 1 - low)))
    shown = f"{cosine:.2f}".replace("0.", ".", 1) if cosine < 0.995 else "1.0"
    ink = "black" if level > 243 else "white"
    return f"[{ink} on color({level})]{shown}[/]"


def _pairs() -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Sentences that share a sense, and those that do not."""
    numbers = range(len(SENTENCES))
    pairs = [(i, j) for i in numbers for j in numbers if i < j]
    senses = [sense for sense, _ in SENTENCES]
    return [(i, j) for i, j in pairs if senses[i] == senses[j]], [(i, j) for i, j in pairs if senses[i] != senses[j]]


def _cosines(pretrained: Pretrained, layers: Any) -> list[list[float]]:
    """Of the word's vectors in all sentences."""
    import numpy as np

    embedded = pretrained.stream([sentence for _, sentence in SENTENCES], layers=layers)
    vectors = np.stack([one.vectors[one.rows.index(WORD)] for one in embedded])
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines: list[list[float]] = (directions @ directions.T).tolist()
    return cosines
