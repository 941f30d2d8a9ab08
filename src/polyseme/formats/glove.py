"""GloVe's text files: as word2vec's, without a header."""

from pathlib import Path

from polyseme.encoders import Pretrained
from polyseme.errors import BadFile
from polyseme.formats.lines import read_lines, write_lines
from polyseme.formats.vectors import opened, table, to_pretrained

NAME = "glove"
_LONGEST_LINE = 1 << 20


def sniff(path: Path) -> bool:
    return path.is_file() and _width(path) >= 2  # two, so that no header of word2vec is taken for a word


def read(path: Path) -> Pretrained:
    width = _width(path)
    if width < 2:
        raise BadFile(f"{path} does not begin with a word and its numbers, as a GloVe file does.")
    words, rows = read_lines(path, width)
    return to_pretrained(words, rows, path, NAME)


def write(pretrained: Pretrained, path: Path) -> None:
    write_lines(path, *table(pretrained))


def _width(path: Path) -> int:
    """How many numbers follow the first word."""
    with opened(path) as file:
        line = file.readline(_LONGEST_LINE)
    fields = [] if len(line) == _LONGEST_LINE else line.split()[1:]
    try:
        [float(field) for field in fields]
    except ValueError:
        return 0
    return len(fields)
