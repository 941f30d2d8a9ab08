"""Labelled texts and pairs of texts from csv, tsv and jsonl files, plain or compressed."""

from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from polyseme.errors import BadData, Mistake, did_you_mean, listed
from polyseme.tasks.columns import choose, number
from polyseme.tasks.examples import Dataset, Label, LabelledText, Pair, Words
from polyseme.tasks.json_lines import ABSENT, has_half_pair
from polyseme.tasks.lines import shown
from polyseme.tasks.records import Row
from polyseme.tasks.sheets import Sheet, open_sheet

Target: TypeAlias = Literal["label", "score"] | None  # a class, a number, or nothing: texts to predict on
Example = TypeVar("Example")

_MANY = 20  # classes, from which on it is asked whether they are any


def read_texts(
    path: Path | str,
    *,
    target: Target = "label",
    text_column: str | None = None,
    label_column: str | None = None,
    delimiter: str | None = None,
    quotes: bool | None = None,
) -> Dataset[LabelledText]:
    """A text and its class or score a row. Columns that are not chosen are guessed, and the guess is said."""
    sheet = open_sheet(path, delimiter, quotes)
    return _read(sheet, {"text": text_column}, target, label_column, LabelledText)


def read_pairs(
    path: Path | str,
    *,
    target: Target = "label",
    text_a_column: str | None = None,
    text_b_column: str | None = None,
    label_column: str | None = None,
    delimiter: str | None = None,
    quotes: bool | None = None,
) -> Dataset[Pair]:
    """Two texts and their class or score a row. Columns that are not chosen are guessed, and the guess is said."""
    sheet = open_sheet(path, delimiter, quotes)
    return _read(sheet, {"text_a": text_a_column, "text_b": text_b_column}, target, label_column, Pair)


def check_labels(train: Dataset[LabelledText | Pair], test: Dataset[LabelledText | Pair]) -> None:
    """A label that only the test file has can never be predicted: say where it stands."""
    problem = unlearned(test, {str(example.label) for example in train.examples}, str(train.path))
    if problem is not None:
        raise problem


def unlearned(test: Dataset[LabelledText | Pair], known: Collection[str], source: str) -> BadData | None:
    """The first label of a file that is not among those known from the source, or None where all are."""
    found = Counter(str(example.label) for example in test.examples)
    unknown = [place for place, example in enumerate(test.examples) if str(example.label) not in known]
    if not unknown:
        return None
    label = str(test.examples[unknown[0]].label)
    others = sorted({str(test.examples[place].label) for place in unknown} - {label})
    return BadData(
        f"the label {shown(label)} ({found[label]} row{'s' * (found[label] > 1)}) is in no row of {source}, which has "
        f"{listed(map(shown, sorted(known)))}.{did_you_mean(label, known)} Correct it, or put rows with it into "
        f"{source}.{f' The same holds for {listed(map(shown, others))}.' if others else ''}",
        test.path,
        test.lines[unknown[0]] if test.lines else None,
        test.label_column,
    )


def too_many(read: Dataset[LabelledText | Pair]) -> str:
    """A question where nearly every row has a class of its own, or nothing."""
    n_rows, n_labels = len(read), len({str(example.label) for example in read.examples})
    if n_labels < _MANY or n_labels * 2 < n_rows:
        return ""
    return (
        f"{read.path}: {n_labels:,} different labels in {n_rows:,} rows, which is hard to learn from. Is "
        f"{read.label_column!r} the column of the label? Choose it with --label or label_column=; for numbers take "
        "the task regress."
    )


def _read(
    sheet: Sheet, texts: dict[str, str | None], target: Target, label_column: str | None, make: Callable[..., Example]
) -> Dataset[Example]:
    if target not in ("label", "score", None):
        raise Mistake(f"target={target!r} is not known. Use 'label' (a class), 'score' (a number) or None.")
    places, said = choose(sheet, texts | ({target: label_column} if target else {}))
    text_places = [places[role] for role in texts]
    label_place = places[target] if target else -1
    examples, lines = [], []
    for row in sheet.rows():
        label = _label(sheet, row, label_place, target) if target else None
        examples.append(make(*[_text(sheet, row, place) for place in text_places], label))
        lines.append(sheet.line_of(row, label_place) if target else row.line)
    if not examples:
        raise BadData(
            f"it has columns ({listed(map(repr, sheet.columns))}) but no rows. Add a row an example.", sheet.path
        )
    column = sheet.columns[label_place] if target else None
    return Dataset(tuple(examples), sheet.path, sheet.said + said, tuple(lines), column)


def _text(sheet: Sheet, row: Row, place: int) -> str | Words:
    cell = row.cells[place]
    if _is_text(cell):
        return str(cell)
    if isinstance(cell, list) and cell and all(map(_is_text, cell)):
        return tuple(cell)
    raise _bad(sheet, row, place, _text_problem(cell))


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and cell != "" and not cell.isspace() and not has_half_pair(cell)


def _text_problem(cell: Any) -> str:
    if isinstance(cell, str) and not cell.strip():
        return "the text is empty. Fill it in, or delete the row."
    if isinstance(cell, str):
        return f"{shown(cell)} holds half a surrogate pair. Write the whole character."
    if cell is ABSENT or cell is None:
        return "this row has no text. Fill it in, or delete the row."
    return f"found {shown(cell)}; wanted a text in quotes, or a list of its words."


def _label(sheet: Sheet, row: Row, place: int, target: str) -> Label:
    cell = row.cells[place]
    if target == "score":
        if (score := number(cell)) is None:
            raise _bad(sheet, row, place, _score_problem(cell))
        return score
    if isinstance(cell, bool):
        return str(cell).lower()
    # a space more does not make another class
    label = cell.strip() if isinstance(cell, str) else str(cell) if type(cell) is int else ""
    if not label or has_half_pair(label):
        raise _bad(sheet, row, place, _label_problem(cell))
    return label


def _label_problem(cell: Any) -> str:
    if cell is ABSENT or cell is None or (isinstance(cell, str) and not cell.strip()):
        return "the label is empty. Fill it in, or delete the row."
    numbers = "For numbers take the task regress, or target='score'."
    return f"found {shown(cell)}; wanted a label: a string or a whole number. {numbers}"


def _score_problem(cell: Any) -> str:
    if cell is ABSENT or cell is None or (isinstance(cell, str) and not cell.strip()):
        return "the score is empty. Fill it in, or delete the row."
    comma = " Write a decimal point." if isinstance(cell, str) and number(cell.replace(",", ".", 1)) is not None else ""
    return f"{shown(cell)} is not a finite number; wanted a score such as 3.5.{comma}"


def _bad(sheet: Sheet, row: Row, place: int, problem: str) -> BadData:
    return BadData(problem, sheet.path, sheet.line_of(row, place), sheet.columns[place])
