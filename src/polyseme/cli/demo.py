"""polyseme demo: what pretraining buys, shown with the encoders in the box."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from polyseme.comparison.compare import Comparison, Table
    from polyseme.encoders import Pretrained

BLANK = "The ice cream was [MASK]."
_CONTEXTUAL = ("elmo-starter", "ulmfit-starter", "bert-starter")
_OWN = {"ulmfit-starter": "gradual"}  # tuned as its paper does, block by block; the others in full
_EPOCHS = 3  # of what is tuned, so that all of it takes two cores a minute or two


def run(
    out: Path = typer.Option(Path("runs/demo"), "--out", "-o", help="Where the comparison and its page are kept."),
    show: bool = typer.Option(False, "--show", help="Open the comparison's page in a browser."),
) -> None:
    """See what pretraining buys: one word in its senses, a blank filled, the encoders in the box on one task."""
    from rich.console import Console

    console = Console(width=min(110, Console().width))
    _show_models(console)
    table = _compare(console, out)
    if show:
        table.show()
    _show_next(console, table)


def _show_models(console: Console) -> None:
    """Apart from the comparison, whose fits are told what memory they take."""
    from polyseme.formats import load

    static, contextual = load("static-starter"), {name: load(name) for name in _CONTEXTUAL}
    _show_word(console, static, contextual)
    _show_blank(console, contextual)


def _show_word(console: Console, static: Pretrained, contextual: dict[str, Pretrained]) -> None:
    from polyseme.cli import demo_word

    console.rule("[bold]One word, many meanings")
    demo_word.show_sentences(console)
    demo_word.show_static(console, static)
    for name, model in contextual.items():
        demo_word.show_layers(console, name, model)
    demo_word.show_matrices(console, static, contextual[_CONTEXTUAL[-1]])


def _show_blank(console: Console, contextual: dict[str, Pretrained]) -> None:
    from polyseme.lens.fill import fill

    console.rule("[bold]What would you write in the blank?")
    console.print(f"  {BLANK.replace('[MASK]', '[bold cyan]____[/]')}\n")
    for name, model in contextual.items():
        for way, words in fill(model, BLANK, 7)[0].ways.items():
            found = ", ".join(word for word, _ in words)
            console.print(f"  {name:<14} {way:<9} {found}", highlight=False, markup=False)
    console.print()


def _compare(console: Console, out: Path) -> Table:
    from polyseme.cli.live import Live

    console.rule("[bold]Is pretraining worth it?")
    console.print(
        "  900 opinions to learn from, 300 to measure on. Each encoder frozen (a head learns on top), and tuned;\n"
        "  beside them a BERT from scratch, as if it had never read a text.\n",
        soft_wrap=True,
    )
    with Live() as live:
        asked = comparison_of_all(out)
        live.begin(asked)
        for cell, line in asked.steps(live.tell):
            live.done(cell, line)
        table = asked.table()
    console.print(str(table), highlight=False, markup=False, soft_wrap=True)
    return table


def comparison_of_all(out: Path) -> Comparison:
    """Each encoder in the box frozen, its layers mixed where they have one width, and tuned; a BERT from scratch."""
    from polyseme.comparison.compare import comparison
    from polyseme.comparison.plan import Axes, Plan
    from polyseme.samples import opinions
    from polyseme.starters import starters

    def asked(names: list[str], layers: str, tune: str, scratch: bool = False) -> Comparison:
        epochs = () if tune == "frozen" else (("epochs", _EPOCHS),)
        axes = Axes((layers,), (tune,), seeds=(0,), scratch=scratch, chosen=epochs)
        return comparison("classify", opinions("train"), names, axes, out, test=opinions("test"))

    mixed = ["elmo-starter", "bert-starter"]
    parts = [asked(mixed, "mix", "frozen"), asked([name for name in starters() if name not in mixed], "top", "frozen")]
    parts.append(asked([name for name in starters() if name not in _OWN], "top", "full"))
    parts += [asked([name], "top", tune) for name, tune in _OWN.items()]
    parts.append(asked([_CONTEXTUAL[-1]], "top", "full", scratch=True))
    cells = {cell.id: cell for part in parts for cell in part.plan.cells}
    order = list(starters())
    arranged = sorted(cells.values(), key=lambda cell: order.index(cell.way.encoder))  # each is loaded once
    sources = {source.name: source for part in parts for source in part.sources}
    return replace(parts[0], plan=Plan(tuple(arranged), ()), sources=list(sources.values()), title="the demo: opinions")


def _show_next(console: Console, table: Table) -> None:
    said = f"\n  A page about it, with curves and all wrong answers to read: {table.report.absolute()}\n"
    console.print(said, highlight=False, markup=False, soft_wrap=True)
    console.rule("[bold]On your own data")
    console.print(
        "  polyseme fit classify yours.csv --encoder bert-starter --out runs/yours\n"
        "  polyseme predict runs/yours new.txt\n"
        "  polyseme compare classify yours.csv --tune frozen full --labels 100 all\n"
        "  polyseme pretrain bert-domain --init bert-starter --corpus your_text.txt --out runs/bert\n"
        '  polyseme senses bank "They sat on the bank." "The bank lent them money."\n'
        "  polyseme serve bert-starter elmo-starter\n"
        "  polyseme models; polyseme --help",
        highlight=False,
        soft_wrap=True,
    )
