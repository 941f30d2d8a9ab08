"""Which columns hold the texts and the labels: as chosen, else by their names, else by what is in them."""

import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

from polyseme.errors import BadData, Mistake, did_you_mean, listed
from polyseme.tasks.records import Row
from polyseme.tasks.sheets import Sheet

# Names as `_plain` has them, the surest first.
_NAMES = {
    "text": (
        *("text", "sentence", "review", "reviewtext", "content", "comment", "body", "message", "tweet", "document"),
        *("utterance", "phrase", "question", "query", "headline", "title", "description", "abstract", "input"),
    ),
    "label": (
        *("label", "labels", "class", "category", "sentiment", "labeltext", "classname", "target", "intent", "topic"),
        *("emotion", "polarity", "stars", "rating", "tag"),
    ),
    "score": ("score", "similarity", "similarityscore", "relatedness", "rating", "stars", "target", "label"),
}
_PAIRS = [
    ("texta", "textb"),
    ("text1", "text2"),
    ("sentence1", "sentence2"),
    ("sentencea", "sentenceb"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("question", "answer"),
    ("query", "passage"),
    ("query", "document"),
    ("text", "textpair"),
]
_SAMPLE = 200  # rows looked at where names do not say enough


def choose(sheet: Sheet, chosen: Mapping[str, str | None]) -> tuple[dict[str, int], tuple[str, ...]]:
    """The place of the column for each role (text, text_a, text_b, label, score), and what was guessed."""
    places = {role: _place(sheet, name) for role, name in chosen.items() if name is not None}
    if len(set(places.values())) < len(places):
        wanted = ", ".join(f"{role} {chosen[role]!r}" for role in places)
        raise Mistake(f"One column was chosen for two things: {wanted}. Choose a column for each.")
    open_roles = [role for role in chosen if role not in places]
    for role in open_roles:
        if (place := _by_name(sheet, role, places)) is not None:
            places[role] = place
    for role in open_roles:
        if role not in places:
            places[role] = _by_content(sheet, role, places)
    return places, (_sentence(sheet, open_roles, places),) if open_roles else ()


def names_pairs(sheet: Sheet) -> bool:
    """Whether two columns are named as pairs of texts are."""
    return _by_name(sheet, "text_a", {}) is not None


def option(role: str) -> str:
    """What chooses this column, in a command and in Python."""
    name = "label" if role == "score" else role
    return f"--{name.replace('_', '-')} or {name}_column="


def number(cell: Any) -> float | None:
    """The finite number a cell holds, or None."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    if isinstance(cell, str) and "_" in cell:
        return None  # float() would take "1_000"
    try:
        found = float(cell)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _place(sheet: Sheet, name: str) -> int:
    if name in sheet.columns:
        return sheet.columns.index(name)
    raise BadData(
        f"there is no column {name!r}; there are {listed(map(repr, sheet.columns))}."
        f"{did_you_mean(name, sheet.columns)}",
        sheet.path,
    )


def _by_name(sheet: Sheet, role: str, taken: Mapping[str, int]) -> int | None:
    found = {_plain(name): place for place, name in reversed(list(enumerate(sheet.columns)))}
    if role in _NAMES:
        names = _NAMES[role]
    else:
        side = 0 if role == "text_a" else 1
        names = tuple(pair[side] for pair in _PAIRS if pair[0] in found and pair[1] in found)
    return next((found[name] for name in names if name in found and found[name] not in taken.values()), None)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _by_content(sheet: Sheet, role: str, taken: Mapping[str, int]) -> int:
    sample = list(islice(sheet.rows(), _SAMPLE))
    free = {
        place: [row.cells[place] for row in sample]
        for place in range(len(sheet.columns))
        if place not in taken.values()
    }
    if role == "text" and names_pairs(sheet):
        raise BadData(_has_pairs(sheet), sheet.path)
    if role.startswith("text"):
        place = _wordiest(free, both=role == "text_a")
    else:
        place = _most_repeated(free) if role == "label" else _only_numbers(free)
        _refuse_data_as_header(sheet, place, sample)
    if place is None:
        raise BadData(_not_found(sheet, role, free), sheet.path)
    return place


def _wordiest(free: dict[int, list[Any]], both: bool) -> int | None:
    """The column with the longest texts; where two texts are wanted, the first of the two longest."""
    texts = [place for place, cells in free.items() if any(number(cell) is None and cell for cell in cells)]
    texts = [place for place in texts if all(isinstance(cell, str | list) for cell in free[place])]
    longest = sorted(texts, key=lambda place: -sum(len(cell) for cell in free[place]))
    return min(longest[: 2 if both else 1], default=None)


def _most_repeated(free: dict[int, list[Any]]) -> int | None:
    """The column with the fewest different values, if they recur; a column of fractions is no label."""
    labels = {place: cells for place, cells in free.items() if not _has_fractions(cells) and not _has_lists(cells)}
    kinds = {place: len(set(cells)) for place, cells in labels.items()}
    if len(free) == 1:
        return next(iter(kinds), None)
    recurring = [place for place in kinds if 1 < kinds[place] <= len(free[place]) / 2]
    return min(recurring, key=lambda place: kinds[place], default=None)


def _only_numbers(free: dict[int, list[Any]]) -> int | None:
    found = [place for place, cells in free.items() if cells and all(number(cell) is not None for cell in cells)]
    return found[0] if len(found) == 1 else None


def _has_fractions(cells: list[Any]) -> bool:
    return any(value is not None and value != int(value) for value in map(number, cells))


def _has_lists(cells: list[Any]) -> bool:
    return any(isinstance(cell, list | dict) for cell in cells)


def _refuse_data_as_header(sheet: Sheet, place: int | None, sample: list[Row]) -> None:
    """A first line whose label occurs again below is a row: the names of the columns are missing."""
    if place is None or sheet.dialect is None:
        return
    name = sheet.columns[place]
    if number(name) is not None or name in {str(row.cells[place]).strip() for row in sample}:
        raise BadData(
            f"the first line looks like data: {name!r} stands where a column's name was wanted. "
            "Put a line of names above it, such as text,label.",
            sheet.path,
            1,
        )


def _has_pairs(sheet: Sheet) -> str:
    pair = [sheet.columns[_by_name(sheet, role, {}) or 0] for role in ("text_a", "text_b")]
    return (
        f"it holds pairs of texts, {pair[0]!r} and {pair[1]!r}. Read it as pairs, or choose one with {option('text')}."
    )


def _not_found(sheet: Sheet, role: str, free: dict[int, list[Any]]) -> str:
    hint = ""
    if role == "label" and any(_has_fractions(cells) for cells in free.values()):
        hint = " For a score instead of a class take the task regress, or target='score'."
    columns = listed(map(repr, sheet.columns))
    what = role.replace("text_a", "first text").replace("text_b", "second text")
    return f"no column looks like the {what}; there are {columns}. Choose it with {option(role)}.{hint}"


def _sentence(sheet: Sheet, guessed: list[str], places: Mapping[str, int]) -> str:
    found = ", ".join(f"{role} column {sheet.columns[places[role]]!r}" for role in guessed)
    options = ", ".join(map(option, guessed))
    return f"{sheet.path}: {found} (guessed; choose with {options})"
