"""Raw text, as documents of paragraphs, from files of any size."""

import glob
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from polyseme.errors import BadData, MissingExtra, Mistake, did_you_mean, listed
from polyseme.text import lines, streams
from polyseme.text.surrogates import encodable

LAYOUTS = ("auto", "blocks", "lines")
ERRORS = ("strict", "replace")
EXTENSIONS = (
    ".txt",
    ".jsonl",
    ".parquet",
    *(kind + packed for kind in (".txt", ".jsonl") for packed in streams.PACKED),
)

_TABLES = (".csv", ".tsv")
_LONGEST_PASSAGE = 100_000  # characters; a passage is split in one piece
_LONGEST_RECORD = 1 << 25  # characters of a line of .jsonl, which is parsed in one piece
_LOOK_AHEAD = 1 << 20  # characters in which a blank line tells the layout
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph, or a part of one that is very long."""

    string: str
    ends_document: bool


def find(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """The files that paths, folders and globs name, sorted; in folders, those with a known extension."""
    wanted = [paths] if isinstance(paths, str | Path) else list(paths)
    found = sorted({file for path in wanted for file in _named(path)})
    empty = {file for file in found if file.stat().st_size == 0}
    if empty:
        _log.warning("Skipped as empty: %s", listed(map(str, sorted(empty))))
    found = [file for file in found if file not in empty]
    if not found:
        raise Mistake(
            f"No text to read: {listed(map(str, wanted))} has only empty files. Name files with text in them."
        )
    return found


def passages(
    path: Path,
    layout: str = "auto",
    field: str = "text",
    errors: str = "strict",
    on_read: Callable[[int], None] | None = None,
) -> Iterator[Passage]:
    """The paragraphs of a file, in order, in bounded memory.

    Plain text is in layout "blocks" (a paragraph a line, documents apart by blank lines) or "lines" (a document a
    line); "auto" is blocks where the first megabyte has a blank line between others. A record of .jsonl or a row of
    .parquet is a document, with its text in `field`. Bytes that are no UTF-8 are an error, or � with
    errors="replace"; half of a surrogate pair, which JSON can spell, is always �. `on_read` hears how many bytes of
    the file are done.
    """
    _check("layout", layout, LAYOUTS)
    _check("errors", errors, ERRORS)
    kind = _kind(path)
    if kind in _TABLES:
        raise BadData(
            "it is a table, whose labels and marks are no text. Write the column with the text to a .txt, or to .jsonl "
            "with the text in a field.",
            path,
        )
    if kind == ".parquet":
        return _marked(_parquet(path, field, on_read))
    texts = lines.decoded(streams.blocks(path, on_read), path, errors)
    return _marked(_json_lines(texts, path, field) if kind == ".jsonl" else _plain(texts, layout))


def _named(path: str | Path) -> list[Path]:
    """The files that one path, folder or glob names."""
    place = Path(path).expanduser()
    if place.is_file():
        return [place]
    wanted = f"files that end with {', '.join(EXTENSIONS)}"
    if place.is_dir():
        found = _inside(place)
    else:
        matches = [Path(match) for match in glob.glob(str(place), recursive=True)]  # noqa: PTH207 (may be absolute)
        found = [file for match in matches for file in ([match] if match.is_file() else _inside(match))]
        wanted = f"a file, a folder or a glob such as 'texts/*.txt'; in folders, {wanted}"
    if not found:
        raise Mistake(f"Nothing found at {path} (from {Path.cwd()}). Wanted: {wanted}.")
    return found


def _inside(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if _is_text(file.relative_to(folder)) and file.is_file()]


def _is_text(path: Path) -> bool:
    return path.name.lower().endswith(EXTENSIONS) and not any(part.startswith(".") for part in path.parts)


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in streams.PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _marked(strings: Iterable[str | None]) -> Iterator[Passage]:
    """Passages from strings, and None behind each document; one without any string is none."""
    held = None
    for string in chain(strings, [None]):
        if held is not None:
            yield Passage(held, ends_document=string is None)
        held = string


def _plain(texts: Iterator[str], layout: str) -> Iterator[str | None]:
    if layout == "auto":
        start = list(_at_least(texts, _LOOK_AHEAD))
        layout = "blocks" if _BLANK_LINE.search("".join(start)[:_LOOK_AHEAD].strip()) else "lines"
        texts = chain(start, texts)
    is_blank = True
    for part, ends_line in lines.parts(texts, _LONGEST_PASSAGE):
        if part and not part.isspace():
            is_blank = False
            yield part
        if ends_line:
            if is_blank or layout == "lines":
                yield None
            is_blank = True


def _at_least(texts: Iterator[str], n: int) -> Iterator[str]:
    for text in texts:
        yield text
        n -= len(text)
        if n <= 0:
            return


def _json_lines(texts: Iterable[str], path: Path, field: str) -> Iterator[str | None]:
    for number, (line, is_whole) in enumerate(lines.parts(texts, _LONGEST_RECORD), start=1):
        if not is_whole:
            raise BadData(
                f"a record of more than {_LONGEST_RECORD:,} characters. Cut it, or save it as plain text.", path, number
            )
        if line.strip():
            yield from _paragraphs(_text_of(line, path, number, field))
            yield None


def _text_of(line: str, path: Path, number: int, field: str) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadData(f"this is not JSON ({error}). Each line wants one JSON object.", path, number) from None
    if not isinstance(record, dict):
        raise BadData(f"found a JSON {type(record).__name__}; each line wants an object.", path, number)
    if field not in record:
        raise _no_field(field, record, path, number)
    text = record[field]
    if not isinstance(text, str):
        raise BadData(f"wanted a string, found {text!r:.40}. Name the field that holds the text.", path, number, field)
    return encodable(text)


def _parquet(path: Path, field: str, on_read: Callable[[int], None] | None) -> Iterator[str | None]:
    pyarrow, parquet = _pyarrow(path)
    size = path.stat().st_size
    try:
        with parquet.ParquetFile(path) as file:
            _check_column(file.schema_arrow, field, path, pyarrow)
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(batch_size=64, row_groups=[group], columns=[field]):
                    for text in batch.column(0).to_pylist():
                        yield from _paragraphs(text or "")
                        yield None
                if on_read is not None:
                    on_read(size * (group + 1) // file.num_row_groups)
    except (pyarrow.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise BadData(f"this parquet file cannot be read ({error}). Copy or write it again.", path) from error


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "data", f"Reading {path.name}") from None
    return pyarrow, parquet


def _check_column(schema: Any, field: str, path: Path, pyarrow: Any) -> None:
    if field not in schema.names:
        raise _no_field(field, schema.names, path, None)
    kind = schema.field(field).type
    if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
        raise BadData(f"wanted strings, found {kind}. Name the column that holds the text.", path, column=field)


def _paragraphs(text: str) -> Iterator[str]:
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        yield from (part for part in lines.cut(line, _LONGEST_PASSAGE) if part and not part.isspace())


def _no_field(field: str, found: Iterable[str], path: Path, number: int | None) -> BadData:
    names = list(found)
    hint = did_you_mean(field, names)
    return BadData(
        f"no field {field!r}, found {listed(names)}.{hint} Name the one that holds the text (field=…).", path, number
    )


def _check(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise Mistake(f"{name}={value!r} is unknown; choose from {', '.join(choices)}.{did_you_mean(value, choices)}")
