"""The numbered lines of a text file, compressed or not, each proved to be text."""

import reprlib
from collections.abc import Iterator
from pathlib import Path

from polyseme.errors import BadData, did_you_mean
from polyseme.text.streams import blocks

_CHUNK = 1 << 18
_LONGEST = 1 << 26  # bytes a line: more is no line of text, and it would all be held in memory
_LARGEST = 1 << 29  # characters of a file that is read whole, and bytes of a line of it
_FOREIGN = {
    b"PK\x03\x04": "a zip archive (an Excel workbook is one). Unpack it, or export the sheet as CSV in UTF-8",
    b"PAR1": "a parquet file. Write it as CSV or as JSON lines",
    b"\xff\xfe": "UTF-16 text. Save it as UTF-8",
    b"\xfe\xff": "UTF-16 text. Save it as UTF-8",
}


def numbered_lines(path: Path, longest: int | None = None) -> Iterator[tuple[int, str]]:
    """Each line of a UTF-8 file, its end kept, with its number from 1. A byte order mark is passed over."""
    for number, raw in enumerate(_lines(_chunks(path), path, longest or _LONGEST), 1):
        if b"\0" in raw:
            raise BadData(
                f"byte {raw.index(0) + 1} of the line is NUL, which no text holds. Save the file as UTF-8 text.",
                path,
                number,
            )
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            raise BadData(_not_utf8(raw, error.start), path, number) from None
        if number == 1:
            line = line.removeprefix("\ufeff")
        if line:
            yield number, line


def whole_text(path: Path) -> str:
    """All of a file that has to be read at once, such as one JSON value."""
    parts, n_characters = [], 0
    for number, line in numbered_lines(path, longest=_LARGEST):  # JSON often is one line
        n_characters += len(line)
        if n_characters > _LARGEST:
            raise BadData(f"it holds more than {_LARGEST >> 20} million characters. Cut it up.", path, number)
        parts.append(line)
    return "".join(parts)


def shown(value: object, limit: int = 60) -> str:
    """A value for a message: quoted, escaped, cut.

    >>> shown("a\\tlong story", limit=6)
    "'a\\\\tlong…'"
    """
    if not isinstance(value, str):
        return reprlib.repr(value)
    return repr(value if len(value) <= limit else value[:limit] + "…")


def kind(path: Path) -> str:
    """The suffix that says what is in a file, that of its compression taken off.

    >>> kind(Path("reviews.JSONL.gz"))
    '.jsonl'
    """
    return (path.with_suffix("") if path.suffix.lower() in (".gz", ".zst") else path).suffix.lower()


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        if not path.is_file():
            raise BadData(_absent(path), path)
        _refuse_foreign(path)
        yield from blocks(path, size=_CHUNK)
    except OSError as error:
        raise BadData(f"it cannot be read: {error.strerror}.", path) from None


def _refuse_foreign(path: Path) -> None:
    with path.open("rb") as file:
        magic = file.read(4)
    for foreign, problem in _FOREIGN.items():
        if magic.startswith(foreign):
            raise BadData(f"it is {problem}.", path)


def _lines(chunks: Iterator[bytes], path: Path, longest: int) -> Iterator[bytes]:
    begun: list[bytes] = []  # the parts of a line that has not ended yet
    n_bytes, number = 0, 0
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        begun.append(first)
        n_bytes += len(first)
        if n_bytes > longest:
            raise BadData(f"the line is longer than {longest >> 20} MB. Is this a text file?", path, number + 1)
        if others:
            yield b"".join(begun) + b"\n"
            yield from (line + b"\n" for line in others[:-1])
            begun, n_bytes, number = [others[-1]], len(others[-1]), number + len(others)
    if n_bytes:
        yield b"".join(begun)


def _absent(path: Path) -> str:
    if path.is_dir():
        return "it is a folder; a file was wanted."
    if path.exists():
        return "it is no regular file. Write the data to a file first."
    names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    return f"there is no such file.{did_you_mean(path.name, names)}"


def _not_utf8(raw: bytes, start: int) -> str:
    near = raw[max(0, start - 20) : start + 20].decode("cp1252", errors="replace").strip()
    return (
        f"byte {start + 1} of the line (0x{raw[start]:02X}) is not UTF-8. Read as Windows-1252 it stands in {near!r}. "
        "If that is right, convert the file: iconv -f cp1252 -t utf-8"
    )
