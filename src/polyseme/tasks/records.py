"""Lines to rows of cells, with quotes as RFC 4180 has them, read strictly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from polyseme.errors import BadData
from polyseme.tasks.lines import shown

_LONGEST = 1 << 24  # characters of a quoted field: past this its closing quote is missing


class BadQuote(BadData):
    """A quote mark that opens a field and does not close where the field ends."""


class Row(NamedTuple):
    """The cells of one row and the line it begins on."""

    line: int
    cells: list[Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file's fields are parted; without quotes every quote mark is text."""

    delimiter: str
    quotes: bool = True


def records(lines: Iterator[tuple[int, str]], dialect: Dialect, path: Path, names: Sequence[str] = ()) -> Iterator[Row]:
    """A row a line, but for quoted fields that span several; a line without anything is no row. Names are for messages.

    A quote mark inside a field that does not begin with one is text.
    """
    opening = dialect.delimiter + '"'
    for number, line in lines:
        if dialect.quotes and (line[0] == '"' or opening in line):
            yield Row(number, _QuotedRow(number, line, lines, dialect.delimiter, path, names).cells())
        elif bare := line.rstrip("\r\n"):
            yield Row(number, bare.split(dialect.delimiter))


def line_of(row: Row, place: int) -> int:
    """The line a cell begins on: quoted cells before it may hold line ends."""
    return row.line + sum(str(cell).count("\n") for cell in row.cells[:place])


@dataclass(slots=True)
class _QuotedRow:
    """A place in the lines of a row; it moves on as cells are taken."""

    number: int
    line: str
    lines: Iterator[tuple[int, str]]
    mark: str
    path: Path
    names: Sequence[str]
    place: int = 0

    def cells(self) -> list[str]:
        found: list[str] = []
        while True:
            column = self.names[len(found)] if len(found) < len(self.names) else None
            found.append(self._quoted(column) if self.line.startswith('"', self.place) else self._bare())
            if not self.line.startswith(self.mark, self.place):
                return found
            self.place += 1

    def _bare(self) -> str:
        end = self.line.find(self.mark, self.place)
        cell = self.line[self.place :].rstrip("\r\n") if end < 0 else self.line[self.place : end]
        self.place += len(cell)
        return cell

    def _quoted(self, column: str | None) -> str:
        opened, opening = self.number, self.line[self.place : self.place + 40].rstrip()
        parts, n_characters = [], 0
        self.place += 1
        while (end := self._closing_quote()) < 0:
            parts.append(self.line[self.place :])
            n_characters += len(parts[-1])
            self.number, self.line, self.place = *next(self.lines, (self.number, "")), 0
            if not self.line or n_characters > _LONGEST:
                raise BadQuote(
                    f"the quote that opens {opening!r} is never closed. {_REMEDY}", self.path, opened, column
                )
        parts.append(self.line[self.place : end])
        self.place = end + 1
        behind = self.line[self.place :].rstrip("\r\n")
        if behind and not behind.startswith(self.mark):
            where = "" if self.number == opened else f" on line {self.number}"
            raise BadQuote(
                f"the quote that opens {opening!r} closes{where} before {shown(behind, 30)}; wanted a delimiter or the "
                f"end of the line there. {_REMEDY}",
                self.path,
                opened,
                column,
            )
        return "".join(parts).replace('""', '"')

    def _closing_quote(self) -> int:
        place = self.line.find('"', self.place)
        while place >= 0 and self.line.startswith('"', place + 1):
            place = self.line.find('"', place + 2)  # a doubled quote is a quote mark of the text
        return place


_REMEDY = (
    "Close the quote where the field ends, and write a quote mark of the text twice inside quotes; if quote marks are "
    "plain text, part the fields by tabs, or read the file in Python with quotes=False."
)
