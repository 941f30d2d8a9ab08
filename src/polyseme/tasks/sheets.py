"""A file of rows with named columns, whatever its format."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from polyseme.tasks import delimited, json_lines
from polyseme.tasks.lines import kind, numbered_lines
from polyseme.tasks.records import Dialect, Row, line_of

_JSON = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The columns of a file, and its rows, read anew and one at a time whenever they are asked for."""

    path: Path
    columns: tuple[str, ...]
    dialect: Dialect | None  # None for JSON lines
    said: tuple[str, ...] = ()  # what was guessed about the format

    def rows(self) -> Iterator[Row]:
        """Each row, with a cell a column: strings, or for JSON lines any value, ABSENT where there is none."""
        if self.dialect is None:
            return json_lines.rows(self.path, self.columns)
        return delimited.rows(self.path, self.dialect, self.columns)

    def line_of(self, row: Row, place: int) -> int:
        """The line the cell at this place begins on."""
        return row.line if self.dialect is None else line_of(row, place)


def open_sheet(path: Path | str, delimiter: str | None = None, quotes: bool | None = None) -> Sheet:
    """A csv, tsv or jsonl file, plain or .gz or .zst: by its suffix, else by its first line.

    Quote marks are read as RFC 4180 has it, or with quotes=False as text; None leaves that to a file parted by tabs.
    """
    path = Path(path)
    if kind(path) in _JSON or (kind(path) not in (".csv", ".tsv") and _begins_json(path)):
        return Sheet(path, json_lines.header(path), None)
    dialect, said = delimited.sniff(path, delimiter, quotes is not False)
    if quotes is None and dialect.delimiter == "\t" and not delimited.quotes_close(path, dialect):
        dialect = replace(dialect, quotes=False)
        said.append(f"{path}: its quote marks are text, since one that opens a field does not close at its end")
    return Sheet(path, delimited.header(path, dialect), dialect, tuple(said))


def _begins_json(path: Path) -> bool:
    return next((line.lstrip()[0] in "{[" for _, line in numbered_lines(path) if line.strip()), False)
