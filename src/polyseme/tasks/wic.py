"""Words in two contexts, and whether their sense is the same (WiC: Pilehvar & Camacho-Collados 2019)."""

from dataclasses import dataclass
from pathlib import Path

from polyseme.errors import BadData, listed
from polyseme.tasks.examples import Dataset, Words
from polyseme.tasks.fields import Fields, check_columns
from polyseme.tasks.sheets import open_sheet

COLUMNS = ("word", "index_a", "index_b", "text_a", "text_b", "label")
_SAME = {"same": True, "different": False, "t": True, "f": False, "true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class WordInContexts:
    """The word stands at place_a of the one sentence and at place_b of the other."""

    word: str
    words_a: Words
    place_a: int
    words_b: Words
    place_b: int
    same: bool


def read_wic(path: Path | str) -> Dataset[WordInContexts]:
    """csv, tsv or jsonl with the columns above; texts are words with spaces between them, places count from 0."""
    sheet = open_sheet(path)
    check_columns(sheet, COLUMNS, "WiC")
    rows = [Fields(sheet.columns, row, sheet.path) for row in sheet.rows()]
    if not rows:
        raise BadData("it has columns but no rows.", sheet.path)
    lines = tuple(fields.row.line for fields in rows)
    return Dataset(tuple(_example(fields) for fields in rows), sheet.path, sheet.said, lines, "label")


def _example(fields: Fields) -> WordInContexts:
    (words_a, place_a), (words_b, place_b) = (_side(fields, side) for side in "ab")
    label = fields.cell("label")
    same = _SAME.get(str(label).strip().lower())
    if same is None:
        raise fields.wrong("label", f"found {label!r:.40}; wanted one of {listed(_SAME)}.")
    return WordInContexts(fields.text("word"), words_a, place_a, words_b, place_b, same)


def _side(fields: Fields, side: str) -> tuple[Words, int]:
    words, place = tuple(fields.text(f"text_{side}").split()), fields.whole_number(f"index_{side}")
    if place >= len(words):
        problem = f"place {place} is behind the last of the {len(words)} words in {' '.join(words)!r:.60}."
        raise fields.wrong(f"index_{side}", f"{problem} Places count from 0.")
    return words, place
