"""polyseme senses: one word in several contexts, layer by layer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from polyseme.lens.views import View
    from polyseme.text.mentions import Found, Mention

LISTS = ("--model", "-m", "--corpus", "--forms")

_MOST_SHOWN = 8  # sentences of a matrix on a terminal


def run(
    word: str = typer.Argument(help="The word."),
    sentences: list[str] = typer.Argument(help="Two sentences or more that it stands in; with --corpus one will do."),
    model: list[Path] = typer.Option(
        [], "--model", "-m", help="Models of any known format, static beside contextual; else those in the box."
    ),
    corpus: list[str] = typer.Option(
        [], "--corpus", help="Text to find more occurrences in: nearest ones, and senses."
    ),
    forms: list[str] = typer.Option([], "--forms", help="Other forms of the word, such as cracks cracked."),
    layer: int = typer.Option(-1, help="The layer that neighbours and senses are found at; -1 is the top."),
    limit: int = typer.Option(500, min=10, help="Occurrences in the corpus that are looked at, chosen by the seed."),
    n_senses: int | None = typer.Option(None, "--senses", min=2, help="How many senses; else the text decides."),
    n: int = typer.Option(3, "--n", "-n", min=1, help="How many occurrences to show of each."),
    field: str = typer.Option("text", help="Where jsonl and parquet hold the text."),
    seed: int = typer.Option(0, help="The seed of everything random."),
    out: Path | None = typer.Option(None, "--out", "-o", help="A picture: .png, .svg or .pdf."),
    force: bool = typer.Option(False, "--force", help="Overwrite what is there."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Tell how alike a word is in several sentences, layer by layer; with --corpus, where else it is used like
    that, and what senses it has there."""
    from polyseme.cli import named
    from polyseme.cli.progress import Stages
    from polyseme.lens import pictures, sense_pictures
    from polyseme.lens.views import View
    from polyseme.starters import starters
    from polyseme.text.mentions import mentions, mentions_in_corpus

    pictures.check_place(out, force)
    asked, found = mentions(sentences, word, forms), None
    _refuse_one(asked, corpus)
    with Stages() as stages:
        if corpus:
            found = mentions_in_corpus(corpus, word, forms, limit, seed, field, stages.of("Searching"))
            _refuse_few(found, word)
        there = found.mentions if found else ()
        views = [
            View.of(name, pretrained, asked, there, layer, n_senses, seed, stages.of(f"Reading with {name}"))
            for name, pretrained in named.each(model or [Path(name) for name in starters()])
        ]
    if out:
        pictures.save(sense_pictures.draw(word, views), out, force)
    if as_json:
        print(json.dumps(_facts(word, asked, views, found, n), ensure_ascii=False))
    else:
        _print(word, asked, views, found, n)
        if out:
            print(out)


def _refuse_one(asked: Sequence[Mention], corpus: list[str]) -> None:
    from polyseme.errors import Mistake

    if len(asked) < 2 and not corpus:
        raise Mistake("One context can be compared with nothing. Give two sentences or more, or text with --corpus.")


def _refuse_few(found: Found, word: str) -> None:
    from polyseme.errors import Mistake

    if len(found.mentions) < 10:
        raise Mistake(
            f"{word!r} stands {found.n_all} times in the corpus; 10 are the least to compare. Give more text, or other "
            "forms of the word with --forms."
        )


def _facts(word: str, asked: Sequence[Mention], views: Sequence[View], found: Found | None, n: int) -> dict[str, Any]:
    sentences = [{"text": one.text.string, "word": one.word, "place": one.place} for one in asked]
    counts = {"occurrences": found.n_all, "looked_at": len(found.mentions)} if found else {}
    return {"word": word, "sentences": sentences, **counts, "models": [view.facts(n) for view in views]}


def _print(word: str, asked: Sequence[Mention], views: Sequence[View], found: Found | None, n: int) -> None:
    for number, mention in enumerate(asked, 1):
        before, own, behind = mention.in_context(60)
        print(f"{number:>2}  {before}[{own}]{behind}")
    if len(asked) > 1:
        print(f"\nHow alike {word!r} is in two of them: mean cosine, layer by layer (0 has no context)")
        for view in views:
            shown = "  ".join(f"{number}: {value:.2f}" for number, value in enumerate(view.mean_cosines()))
            print(f"  {view.name} ({view.family})  {shown}")
    for view in views:
        if 1 < len(asked) <= _MOST_SHOWN and len(view.asked.layers) > 1:
            _print_matrix(view)
    if found:
        _print_corpus(word, views, found, n)


def _print_matrix(view: View) -> None:
    print(f"\n{view.name}, layer {view.layer}: cosines")
    rows = view.asked.cosines()[view.layer]
    print("     " + "".join(f"{number:>6}" for number in range(1, len(rows) + 1)))
    for number, row in enumerate(rows, 1):
        print(f"  {number:>3}" + "".join(f"{value:6.2f}" for value in row))


def _print_corpus(word: str, views: Sequence[View], found: Found, n: int) -> None:
    looked_at = "" if len(found.mentions) == found.n_all else f", of which {len(found.mentions):,} were looked at"
    print(f"\n{word!r} stands {found.n_all:,} times in the corpus{looked_at}")
    for view in views:
        if view.grouping is None:
            print(f"\n{view.name}: one vector in all of them, so there are neither nearest ones nor senses")
            continue
        print(f"\n{view.name}, layer {view.layer}. {view.grouping.verdict()}")
        for number, sense in enumerate(view.senses(n), 1):
            words = f"; around it: {', '.join(sense['words'])}" if sense["words"] else ""
            forms = ", ".join(f"{form} {count}" for form, count in sense["forms"].items())
            print(f"  sense {number}: {forms}{words}")
            for line in sense["examples"]:
                print(f"      {_kwic(line)}")
        for number, lines in enumerate(view.nearest(n), 1):
            print(f"  nearest to sentence {number}")
            for line in lines:
                print(f"    {line['cosine']:.2f}  {_kwic(line)}  sense {line['sense']}")


def _kwic(line: dict[str, Any]) -> str:
    return f"{line['before']:>40}[{line['word']}]{line['behind']:<40}"
