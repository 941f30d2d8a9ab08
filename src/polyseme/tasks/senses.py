"""Words marked with their senses, as in SemCor or in a table, and the inventory of a lemma's senses."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from polyseme.errors import BadData
from polyseme.tasks.examples import Dataset, Words
from polyseme.tasks.fields import Fields, check_columns
from polyseme.tasks.json_lines import rows
from polyseme.tasks.lines import shown
from polyseme.tasks.sheets import open_sheet
from polyseme.text.words import to_text

Lemma: TypeAlias = tuple[str, str]  # the lemma and its part of speech
COLUMNS = ("word", "sense", "text")  # of a table
Inventory: TypeAlias = dict[Lemma, tuple[str, ...]]  # keys of senses, the most frequent first


@dataclass(frozen=True, slots=True)
class Sense:
    """The words from start to end mean one of these senses."""

    start: int
    end: int
    lemma: Lemma
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SensedWords:
    """A sentence, some of whose words are marked."""

    words: Words
    senses: tuple[Sense, ...]


def read_senses(path: Path | str) -> Dataset[SensedWords]:
    """A sentence a line: {"words": […], "senses": [{"start", "end", "lemma", "pos", "keys"}, …]}.

    SemCor writes "took_place" for two words. No encoder has read such text, so they are two words here. A csv or tsv
    has the columns word, sense and text: the word, wherever it stands in the text, has that sense.
    """
    path, names = Path(path), ("words", "senses")
    if {".csv", ".tsv"} & set(path.suffixes):
        return _table(path)
    found = [Fields(names, row, path) for row in rows(path, names)]
    return Dataset(tuple(map(_sentence, found)), path, (), tuple(fields.row.line for fields in found))


def read_inventory(path: Path | str) -> Inventory:
    """A lemma a line: {"lemma": "crack", "pos": "noun", "keys": [the most frequent sense, …]}."""
    names = ("lemma", "pos", "keys")
    found: Inventory = {}
    for row in rows(Path(path), names):
        fields = Fields(names, row, Path(path))
        lemma = fields.text("lemma"), fields.text("pos")
        if lemma in found:
            raise fields.wrong("lemma", f"{lemma[0]!r} ({lemma[1]}) stands there twice. Put its senses into one line.")
        found[lemma] = tuple(fields.words("keys"))
    return found


def _table(path: Path) -> Dataset[SensedWords]:
    sheet = open_sheet(path)
    check_columns(sheet, COLUMNS, "A table of senses")
    found = [Fields(sheet.columns, row, path) for row in sheet.rows()]
    lines = tuple(fields.row.line for fields in found)
    return Dataset(tuple(map(_marked, found)), path, sheet.said, lines, "sense")


def _marked(fields: Fields) -> SensedWords:
    word, words = fields.text("word").casefold(), tuple(to_text(fields.text("text")).words)
    places = [place for place, one in enumerate(words) if one.casefold() == word]
    if not places:
        raise fields.wrong(
            "word", f"{shown(word)} is no word of {shown(fields.text('text'))}. Write it as it stands there."
        )
    sense = (fields.text("sense"),)
    return SensedWords(words, tuple(Sense(place, place + 1, (word, ""), sense) for place in places))


def _sentence(fields: Fields) -> SensedWords:
    whole = fields.words("words")
    parts = [[part for part in word.split("_") if part] or [word] for word in whole]
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    senses = fields.cell("senses")
    if not isinstance(senses, list):
        raise fields.wrong("senses", f"found {shown(senses)}; wanted a list of senses, empty where there is none.")
    return SensedWords(
        tuple(word for part in parts for word in part), tuple(_sense(fields, sense, starts) for sense in senses)
    )


def _sense(fields: Fields, sense: Any, starts: list[int]) -> Sense:
    try:
        start, end = sense["start"], sense["end"]
        lemma, keys = (sense["lemma"], sense["pos"]), sense["keys"]
    except (TypeError, KeyError) as error:
        raise _bad(
            fields, f"found {shown(sense)}; wanted start, end, lemma, pos and keys ({error} is not there)."
        ) from None
    if not (type(start) is int and type(end) is int and 0 <= start < end < len(starts)):
        raise _bad(fields, f"the words from {start!r} to {end!r} of {len(starts) - 1}; wanted 0 <= start < end.")
    if not isinstance(keys, list) or not keys or not all(isinstance(part, str) and part for part in (*lemma, *keys)):
        raise _bad(
            fields, f"found {shown(sense)}; wanted texts as lemma and pos, and a list of them, not empty, as keys."
        )
    return Sense(starts[start], starts[end], lemma, tuple(keys))


def _bad(fields: Fields, problem: str) -> BadData:
    return fields.wrong("senses", problem)
