"""Cells of a row that a layout asks for by name, each proved to be what is wanted."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyseme.errors import BadData, did_you_mean, listed
from polyseme.tasks.json_lines import ABSENT, has_half_pair
from polyseme.tasks.lines import shown
from polyseme.tasks.records import Row
from polyseme.tasks.sheets import Sheet

_MOST_DIGITS = 20  # nothing here is counted further, and Python reads some thousands only


@dataclass(frozen=True, slots=True)
class Fields:
    """One row by the names of its columns."""

    names: tuple[str, ...]
    row: Row
    path: Path

    def text(self, name: str) -> str:
        cell = self.cell(name)
        if not isinstance(cell, str) or not cell.strip() or has_half_pair(cell):
            raise self.wrong(name, f"found {shown(cell)}; wanted a text.")
        return cell

    def whole_number(self, name: str) -> int:
        cell = self.cell(name)
        if isinstance(cell, str) and cell.strip().isdecimal() and cell.isascii() and len(cell) < _MOST_DIGITS:
            return int(cell)
        if type(cell) is not int or cell < 0:
            raise self.wrong(name, f"found {shown(cell)}; wanted a whole number from 0.")
        return cell

    def words(self, name: str) -> list[str]:
        cell = self.cell(name)
        if not isinstance(cell, list) or not cell or not all(isinstance(word, str) and word.strip() for word in cell):
            raise self.wrong(name, f"found {shown(cell)}; wanted a list of words, none of them empty.")
        return cell

    def cell(self, name: str) -> Any:
        cell = self.row.cells[self.names.index(name)]
        if cell is ABSENT:
            raise self.wrong(name, "the line has none. Fill it in, or delete the line.")
        return cell

    def wrong(self, name: str, problem: str) -> BadData:
        return BadData(problem, self.path, self.row.line, name)


def check_columns(sheet: Sheet, wanted: tuple[str, ...], what: str) -> None:
    """Refuse a file that lacks one of the columns."""
    for name in wanted:
        if name not in sheet.columns:
            raise BadData(
                f"there is no column {name!r}; there are {listed(map(repr, sheet.columns))}."
                f"{did_you_mean(name, sheet.columns)} {what} has {', '.join(wanted)}.",
                sheet.path,
            )
