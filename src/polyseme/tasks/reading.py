"""Labelled files by task: what each is read with, and what of an example is input and what label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from polyseme.errors import Mistake, listed
from polyseme.tasks.conll import read_tagged
from polyseme.tasks.examples import Dataset, LabelledText, Pair, Question, TaggedWords
from polyseme.tasks.scored import read_scored
from polyseme.tasks.squad import read_questions
from polyseme.tasks.tables import read_pairs, read_texts, too_many, unlearned

_CLASSES = ("classify", "pair")  # tasks whose labels are classes


class Read(NamedTuple):
    """A file as a fit takes it."""

    inputs: list[Any]
    labels: list[Any]
    said: tuple[str, ...]
    dataset: Dataset[Any]


class Columns(NamedTuple):
    """Which columns were chosen; None where they are to be guessed."""

    text: str | None = None
    text_a: str | None = None
    text_b: str | None = None
    label: str | None = None

    def only(self, *names: str) -> dict[str, str | None]:
        """The options of a reader; a column it does not know is refused."""
        for name, value in self._asdict().items():
            if value is not None and name not in names:
                raise Mistake(f"This task has no column for --{name.replace('_', '-')}; it has {listed(names)}.")
        return {f"{name}_column": getattr(self, name) for name in names}


def read(task: str, path: Path, columns: Columns = Columns(), labelled: bool = True) -> Read:
    """The examples of a file; without `labelled`, labels are not asked for."""
    found = _READERS[task](path, columns, labelled)
    examples: Sequence[Any] = found.examples
    doubt = too_many(found) if labelled and task in _CLASSES else ""
    said = (*found.said, doubt) if doubt else found.said
    return Read([_input(one) for one in examples], [_label(one) for one in examples], said, found)


def strange(task: str, test: Read, learned: Iterable[Any], source: str) -> str:
    """What there is to say of a file whose labels are not all among those learned; nothing where they are."""
    problem = unlearned(test.dataset, set(map(str, learned)), source) if task in _CLASSES else None
    return f"{problem} No answer to such a row is right." if problem else ""


def _texts(path: Path, columns: Columns, labelled: bool) -> Dataset[Any]:
    return read_texts(path, target="label" if labelled else None, **_chosen(columns, labelled, "text"))  # type: ignore[arg-type]


def _pairs(path: Path, columns: Columns, labelled: bool) -> Dataset[Any]:
    return read_pairs(path, target="label" if labelled else None, **_chosen(columns, labelled, "text_a", "text_b"))  # type: ignore[arg-type]


def _scored(path: Path, columns: Columns, labelled: bool) -> Dataset[Any]:
    return read_scored(
        path, target="score" if labelled else None, **_chosen(columns, labelled, "text", "text_a", "text_b")
    )


def _tagged(path: Path, columns: Columns, labelled: bool) -> Dataset[Any]:
    chosen = _chosen(columns, labelled)
    return read_tagged(path, tag_column=chosen.get("label_column"), tagged=labelled)


def _questions(path: Path, columns: Columns, labelled: bool) -> Dataset[Any]:
    columns.only()
    return read_questions(path, answered=labelled)


def _chosen(columns: Columns, labelled: bool, *names: str) -> dict[str, str | None]:
    return columns.only(*names, "label") if labelled else columns._replace(label=None).only(*names)


_READERS: dict[str, Callable[[Path, Columns, bool], Dataset[Any]]] = {
    "classify": _texts,
    "pair": _pairs,
    "regress": _scored,
    "tag": _tagged,
    "span": _questions,
}


def _input(example: Any) -> Any:
    match example:
        case LabelledText():
            return example.text if isinstance(example.text, str) else list(example.text)
        case Pair():
            return (example.text_a, example.text_b)
        case TaggedWords():
            return list(example.words)
        case Question():
            return (example.question, example.context)


def _label(example: Any) -> Any:
    match example:
        case TaggedWords():
            return list(example.tags)
        case Question():
            return list(example.answers)
        case _:
            return example.label
