"""Pairs of words and how alike people find them."""

from dataclasses import dataclass
from pathlib import Path

from polyseme.errors import BadData
from polyseme.tasks.columns import number
from polyseme.tasks.examples import Dataset
from polyseme.tasks.lines import numbered_lines, shown


@dataclass(frozen=True, slots=True)
class WordPair:
    """Two words and their score; how high the highest one is, differs from set to set."""

    one: str
    other: str
    score: float


def read_word_pairs(path: Path | str) -> Dataset[WordPair]:
    """Two words and a number a line, parted by tabs or spaces; a first line of names is passed over, and said."""
    path = Path(path)
    examples, lines = [], []
    said: list[str] = []
    for line, content in numbered_lines(path):
        cells = content.split()
        if not cells or cells[0].startswith("#"):
            continue
        score = number(cells[2]) if len(cells) == 3 else None
        if score is not None:
            examples.append(WordPair(cells[0], cells[1], score))
            lines.append(line)
        elif not examples and not said and len(cells) >= 3:
            said.append(f"{path}: {shown(content.strip())} is taken for the names of the columns")
        else:
            raise BadData(f"found {shown(content.strip())}; wanted two words and a number.", path, line)
    if not examples:
        raise BadData("it has no pairs. Wanted: two words and a number a line.", path)
    return Dataset(tuple(examples), path, tuple(said), tuple(lines), "score")
