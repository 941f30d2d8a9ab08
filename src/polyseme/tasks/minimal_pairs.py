"""Minimal pairs: two sentences that differ in little, of which one is grammatical (BLiMP: Warstadt et al. 2020)."""

from dataclasses import dataclass
from pathlib import Path

from polyseme.errors import BadData
from polyseme.tasks.examples import Dataset
from polyseme.tasks.fields import Fields
from polyseme.tasks.json_lines import header, rows
from polyseme.tasks.lines import kind

_WANTED = ("sentence_good", "sentence_bad")
_OPTIONAL = ("UID", "linguistics_term")


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """The paradigm is what differs, such as adjunct_island; the phenomenon what paradigms have in common."""

    good: str
    bad: str
    paradigm: str
    phenomenon: str


def read_minimal_pairs(path: Path | str) -> Dataset[MinimalPair]:
    """JSON lines with sentence_good and sentence_bad, and BLiMP's other names; of a folder all such files."""
    path = Path(path)
    files = _inside(path) if path.is_dir() else [path]
    examples, lines = [], []
    for file in files:
        there = header(file)
        if absent := [name for name in _WANTED if name not in there]:
            raise BadData(f"its lines have no {absent[0]!r}, but {', '.join(there)}. Wanted: BLiMP's layout.", file)
        names = (*_WANTED, *(name for name in _OPTIONAL if name in there))
        for row in rows(file, names):
            examples.append(_pair(Fields(names, row, file), file))
            lines.append(row.line)
    return Dataset(tuple(examples), path, (), tuple(lines))


def _inside(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.iterdir() if kind(file) == ".jsonl")
    if not files:
        raise BadData("no .jsonl file is in this folder. Wanted: minimal pairs, a paradigm a file.", folder)
    return files


def _pair(fields: Fields, file: Path) -> MinimalPair:
    paradigm = fields.text("UID") if "UID" in fields.names else file.name.split(".")[0]
    phenomenon = fields.text("linguistics_term") if "linguistics_term" in fields.names else paradigm
    return MinimalPair(fields.text("sentence_good"), fields.text("sentence_bad"), paradigm, phenomenon)
