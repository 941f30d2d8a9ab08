"""Files of fields that a delimiter parts: which delimiter, which columns, which rows."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from polyseme.errors import BadData, Mistake, listed
from polyseme.tasks.lines import kind, numbered_lines, shown
from polyseme.tasks.records import BadQuote, Dialect, Row, records

DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "pipes"}
_USUAL = {".csv": ",", ".tsv": "\t", ".tab": "\t"}  # by the file's suffix
_SAMPLE = 100  # lines looked at to find the delimiter


def sniff(path: Path, delimiter: str | None, quotes: bool) -> tuple[Dialect, list[str]]:
    """How the fields of a file are parted, and what has to be said about it."""
    sample = list(islice(numbered_lines(path), _SAMPLE))
    if delimiter is not None:
        _check(delimiter, sample, quotes, path)
        return Dialect(delimiter, quotes), []
    usual = _USUAL.get(kind(path), ",")
    best = _best(sample, usual, quotes, path)
    if best == usual or kind(path) not in _USUAL:
        return Dialect(best, quotes), []
    said = f"its fields are parted by {DELIMITERS[best]}, not {DELIMITERS[usual]} (in Python choose with delimiter=)"
    return Dialect(best, quotes), [f"{path}: {said}"]


def header(path: Path, dialect: Dialect) -> tuple[str, ...]:
    """The names of the columns: the first row."""
    row = next(records(numbered_lines(path), dialect, path), None)
    if row is None:
        raise BadData("it is empty. Wanted: a line with the names of the columns, then a row an example.", path)
    if any("\r" in cell for cell in row.cells):
        raise BadData("its lines end in \\r alone. Save it with \\n or \\r\\n at the end of each line.", path, row.line)
    names = tuple(cell.strip() for cell in row.cells)
    for place, name in enumerate(names):
        if name in names[:place]:
            raise BadData(f"two columns have the name {name!r}. Rename one of them.", path, row.line, name)
    return names


def quotes_close(path: Path, dialect: Dialect) -> bool:
    """Whether every quote mark that opens a field has another that closes it, as RFC 4180 wants."""
    try:
        for _ in records(numbered_lines(path), dialect, path):
            pass
    except BadQuote:
        return False
    return True


def rows(path: Path, dialect: Dialect, names: Sequence[str]) -> Iterator[Row]:
    """Each row behind the header; one with more or fewer fields than the header is a mistake."""
    for row in islice(records(numbered_lines(path), dialect, path, names), 1, None):
        if len(row.cells) != len(names):
            raise BadData(_ragged(row.cells, names, dialect.delimiter), path, row.line)
        yield row


def _best(sample: list[tuple[int, str]], usual: str, quotes: bool, path: Path) -> str:
    """The delimiter that cuts the rows into as many fields as the header; of several the usual one."""
    fits = {mark: _fit(sample, Dialect(mark, quotes), path) for mark in DELIMITERS}
    cutting = [mark for mark in DELIMITERS if fits[mark][1] > 1]
    return max(cutting, key=lambda mark: (fits[mark][0], mark == usual, fits[mark][1]), default=usual)


def _fit(sample: list[tuple[int, str]], dialect: Dialect, path: Path) -> tuple[float, int]:
    """The share of the sample's rows that have as many fields as its header, and that number."""
    counts = []
    try:
        for row in records(iter(sample), dialect, path):
            counts.append(len(row.cells))
    except BadData:  # a bad quote, or a row that the sample cuts: reading the file will say so
        pass
    return (counts.count(counts[0]) / len(counts), counts[0]) if counts else (0.0, 0)


def _check(delimiter: str, sample: list[tuple[int, str]], quotes: bool, path: Path) -> None:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise Mistake(f"delimiter={delimiter!r} is not one character that can part fields. Use one such as ',' or ';'.")
    best = _best(sample, delimiter, quotes, path)
    if best != delimiter and _fit(sample, Dialect(delimiter, quotes), path)[1] < 2:
        raise BadData(
            f"delimiter={delimiter!r} leaves the header in one piece; its fields look parted by {DELIMITERS[best]}. "
            f"Use delimiter={best!r}, or leave it out.",
            path,
            sample[0][0],
        )


def _ragged(cells: Sequence[str], names: Sequence[str], mark: str) -> str:
    n_fields = f"the row has {len(cells)} field{'s' * (len(cells) != 1)}, parted by {DELIMITERS.get(mark, repr(mark))}"
    columns = f"the header has {len(names)} column{'s' * (len(names) != 1)} ({listed(map(repr, names))})"
    if len(cells) < len(names):
        return f"{n_fields}; {columns}. Fill in the rest, or delete the row. It begins {shown(cells[0])}."
    return (
        f"{n_fields}; {columns}. Too much from {shown(cells[len(names)])} on. Put double quotes round a field that "
        'holds the delimiter, as in "one, two", with nothing before them, or delete what is too much.'
    )
