"""The kinds of `polyseme lens`: each reads its data, measures every model and says how to draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from polyseme.cli import named
from polyseme.cli.lens import KINDS
from polyseme.cli.progress import Stages
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake, did_you_mean
from polyseme.lens import pictures
from polyseme.types import Text

Models = Iterator[tuple[str, Pretrained]]
Row = dict[str, Any]

_PROBED, _READ = 1500, 1000  # sentences, where no limit is given
_NEAREST = 10


class Asked(NamedTuple):
    """The options of the command."""

    data: list[Path]
    test: Path | None
    inventory: Path | None
    label: str | None
    word: str | None
    sentence: str | None
    layer: int | None
    layers: list[int]
    limit: int | None
    lower: bool
    within_word: bool
    n: int | None
    seed: int | None
    field: str | None

    def some(self, examples: Sequence[Any], usual: int | None = None) -> list[Any]:
        """As many as --limit or as usual, chosen by the seed, in the order they come."""
        from polyseme.text.order import shuffled

        limit, n = self.limit or usual, len(examples)
        if limit is None or limit >= n:
            return list(examples)
        return [examples[place] for place in sorted(shuffled(np.arange(limit), n, self.seed or 0, 0).tolist())]


@dataclass(frozen=True)
class Result:
    """Rows for people and machines, and a picture when it is asked for."""

    rows: list[Row]
    picture: Callable[[], Any]
    said: list[str] = field(default_factory=list)


def boxed(kind: str) -> list[Path]:
    """The encoders in the box, as many as the kind can have; language models where it asks how likely a text is."""
    from polyseme.starters import starters

    return [Path(name) for name in starters() if kind != "pairs" or name != "static-starter"]


def chosen(kind: str, asked: Asked, n_models: int) -> Callable[[Asked, Models, Stages], Result]:
    """What measures this kind; options that it has no use for are misuse."""
    if kind not in KINDS:
        raise Mistake(f"There is no kind {kind!r}; there are {', '.join(KINDS)}.{did_you_mean(kind, KINDS)}")
    measure, taken, wanted = _MEASURES[kind]
    for name in Asked._fields[1:]:
        value, option = getattr(asked, name), f"--{name.replace('_', '-')}"
        given = value is not None and value is not False and value != []  # layer 0 is one, and seed 0
        if given and name not in (*taken, *wanted):
            raise typer.BadParameter(f"{option} is not for {kind}")
        if not given and name in wanted:
            raise typer.BadParameter(f"{kind} wants {option}: {KINDS[kind]}")
    if kind == "cka" and n_models != 2:
        raise typer.BadParameter("cka compares two models. Name them with --model.")
    return measure


def _wic(asked: Asked, models: Models, stages: Stages) -> Result:
    from polyseme.lens.wic import wic
    from polyseme.tasks.wic import read_wic

    assert asked.test is not None
    train, test = read_wic(_one(asked)).examples, read_wic(asked.test).examples
    rows = [_named(name, row) for name, model in models for row in wic(model, train, test, stages.of(name))]
    return Result(rows, lambda: pictures.curves(rows, "accuracy", "Word in context"))


def _wsd(asked: Asked, models: Models, stages: Stages) -> Result:
    from polyseme.lens.wsd import wsd
    from polyseme.tasks.senses import read_inventory, read_senses

    assert asked.test is not None
    train, test = asked.some(read_senses(_one(asked)).examples), read_senses(asked.test).examples
    inventory = read_inventory(asked.inventory) if asked.inventory else None
    rows = [_named(name, row) for name, model in models for row in wsd(model, train, test, inventory, stages.of(name))]
    known = {sense.lemma for one in train for sense in one.senses}
    n_new = 0 if inventory else sum(sense.lemma not in known for one in test for sense in one.senses)
    said = [f"{n_new:,} words whose lemma is new get no answer; --inventory has their first sense"] if n_new else []
    return Result(rows, lambda: pictures.curves(rows, "f1", "Senses by the nearest neighbour"), said)


def _probe(asked: Asked, models: Models, stages: Stages) -> Result:
    from polyseme.lens.probes import probe
    from polyseme.tasks.conll import read_tagged

    assert asked.test is not None
    read = [read_tagged(path, tag_column=asked.label, scheme="plain") for path in (_one(asked), asked.test)]
    train, test = (asked.some(one.examples, _PROBED) for one in read)
    said, rows = [*read[0].said], []
    for name, model in models:
        found = probe(model, train, test, asked.seed or 0, tell=stages.of(name))
        rows += [_named(name, row) for row in found.layers]
        said.append(
            f"{name}: learned from {found.n_train:,} words, measured on {found.n_test:,}; each word's most frequent "
            f"tag is right for {found.baseline:.3f}"
        )
        if found.unconverged:
            said.append(f"{name}: {found.unconverged} probes were stopped before they had learned all they can")
    return Result(rows, lambda: pictures.curves(rows, "accuracy", "Linear probes", "control"), said)


def _isotropy(asked: Asked, models: Models, stages: Stages) -> Result:
    from polyseme.lens.isotropy import isotropy

    texts, seed = _texts(asked), asked.seed or 0
    rows = [_named(name, row) for name, model in models for row in isotropy(model, texts, seed, stages.of(name))]
    return Result(rows, lambda: pictures.curves(rows, "self_similarity", "A word with itself elsewhere", "random"))


def _cka(asked: Asked, models: Models, stages: Stages) -> Result:
    from polyseme.lens.cka import cka

    (name, one), (other_name, other) = models
    matrix = cka(one, other, _texts(asked), asked.layers or None, stages.of("Comparing"))
    numbers = asked.layers or range(max(matrix.shape))
    rows = [
        {"layer": numbers[i], "other_layer": numbers[j], "cka": float(value)}
        for (i, j), value in np.ndenumerate(matrix)
    ]
    said = [f"layer is that of {name}, other layer that of {other_name}"]
    return Result(rows, lambda: pictures.heat(matrix.astype(np.float32), "Linear CKA", name, other_name), said)


def _pairs(asked: Asked, models: Models, stages: Stages) -> Result:
    from dataclasses import replace

    from polyseme.lens.pairs import chosen as some
    from polyseme.lens.pairs import minimal_pairs
    from polyseme.tasks.minimal_pairs import read_minimal_pairs

    every = [pair for path in asked.data for pair in read_minimal_pairs(path).examples]
    pairs = some(every, asked.limit, asked.seed or 0)
    if asked.lower:
        pairs = [replace(pair, good=pair.good.lower(), bad=pair.bad.lower()) for pair in pairs]
    rows = []
    for name, model in models:
        for row in minimal_pairs(model, pairs, asked.within_word, stages.of(name)):
            facts = _named(name, row)
            rows.append({**{key: value for key, value in facts.items() if key != "ways"}, **facts["ways"]})
    order = list(dict.fromkeys(row["paradigm"] for row in rows))
    shown = sorted(rows, key=lambda row: order.index(row["paradigm"]))  # models side by side
    several = len({row["model"] for row in rows}) > 1
    shown = [{**row, "name": f"{row['paradigm']} · {row['model']}" if several else row["paradigm"]} for row in shown]
    return Result(rows, lambda: pictures.bars(shown, "name", "accuracy", "Minimal pairs"))


def _similarity(asked: Asked, models: Models, stages: Stages) -> Result:
    from polyseme.lens.similarity import similarity
    from polyseme.tasks.word_pairs import read_word_pairs

    sets = dict(zip(named.names(asked.data), map(read_word_pairs, asked.data), strict=True))
    rows = [
        {"set": name, **_named(of, row)}
        for of, model in models
        for name, pairs in sets.items()
        for row in similarity(model, pairs.examples, stages.of(of))
    ]
    shown = [{**row, "model": f"{row['model']} · {row['set']}"} for row in rows]
    said = [line for pairs in sets.values() for line in pairs.said]
    return Result(rows, lambda: pictures.curves(shown, "spearman", "Word similarity"), said)


def _neighbours(asked: Asked, models: Models, stages: Stages) -> Result:
    from polyseme.lens.contexts import nearest_words
    from polyseme.text.mentions import mentions

    assert asked.word is not None
    assert asked.sentence is not None
    mention, texts = mentions([asked.sentence], asked.word)[0], _texts(asked)
    layer = -1 if asked.layer is None else asked.layer
    rows: list[Row] = []
    for name, model in models:
        for near in nearest_words(model, mention, texts, layer, asked.n or _NEAREST, stages.of(name)):
            before, word, behind = near.mention.in_context()
            rows.append({"model": name, "cosine": near.cosine, "before": before, "word": word, "behind": behind})
    shown = [{**row, "name": f"{row['before'][-20:]}[{row['word']}]{row['behind'][:20]}"} for row in rows]
    said = [f"Nearest of {sum(len(text.spans) for text in texts):,} words in {len(texts):,} sentences"]
    return Result(rows, lambda: pictures.bars(shown, "name", "cosine", f"Nearest to “{asked.word}”"), said)


def _one(asked: Asked) -> Path:
    if len(asked.data) != 1:
        raise typer.BadParameter(f"one file of data is wanted; {len(asked.data)} given")
    return asked.data[0]


def _texts(asked: Asked) -> list[Text]:
    from polyseme.lens.contexts import sampled

    return asked.some(sampled(asked.data, asked.limit or _READ, asked.seed or 0, asked.field or "text"), _READ)


def _named(name: str, row: Any) -> Row:
    return {"model": name, **asdict(row)}


_OF_TEXT = ("limit", "seed", "field")

# what measures a kind, the options it may have and those it must have
_MEASURES: dict[str, tuple[Callable[[Asked, Models, Stages], Result], tuple[str, ...], tuple[str, ...]]] = {
    "wic": (_wic, (), ("test",)),
    "wsd": (_wsd, ("inventory", "limit", "seed"), ("test",)),
    "probe": (_probe, ("label", "limit", "seed"), ("test",)),
    "isotropy": (_isotropy, _OF_TEXT, ()),
    "cka": (_cka, ("layers", *_OF_TEXT), ()),
    "pairs": (_pairs, ("limit", "seed", "lower", "within_word"), ()),
    "similarity": (_similarity, (), ()),
    "neighbours": (_neighbours, ("layer", "n", *_OF_TEXT), ("word", "sentence")),
}
