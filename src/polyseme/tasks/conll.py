"""Tagged words from CoNLL files: columns with a blank line between sentences, or CoNLL-U."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from polyseme.errors import BadData, Mistake, did_you_mean, listed
from polyseme.tasks.examples import Dataset, TaggedWords
from polyseme.tasks.lines import kind, numbered_lines, shown
from polyseme.tasks.tags import SCHEMES, first_break, is_span_tag, scheme_of

Column: TypeAlias = int | str  # a number from 0 (-1 is the last), or a name
Scheme: TypeAlias = Literal["IOB1", "IOB2", "IOBES", "plain"]  # plain: tags of words, not of spans; nothing to check

_CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_NAMES = {  # CoNLL 2000, 2003
    1: ("word",),
    2: ("word", "tag"),
    3: ("word", "pos", "chunk"),
    4: ("word", "pos", "chunk", "ner"),
}
_ID = re.compile(r"(\d+)([-.]\d+)?", re.ASCII)
_CHOICE = "--label or tag_column="
_REMEDY = "Correct it; or in Python read the tags as they are, with scheme='plain'."
_LOOKED_AT = 1000  # lines, to tell columns from text
_EQUAL = 8  # lines of one number of words that cannot be chance
_LONGEST = 100_000  # words: a sentence beyond this means that the blank lines are missing


def read_tagged(
    path: Path | str,
    *,
    tag_column: Column | None = None,
    word_column: Column | None = None,
    scheme: Scheme | None = None,
    tagged: bool = True,
) -> Dataset[TaggedWords]:
    """Sentences with a tag a word, as they stand in the file: by default the last column, in CoNLL-U upos.

    `tagged=False` reads words alone, from files whose tags are not wanted and may be missing.
    """
    path = Path(path)
    if scheme not in (*SCHEMES, "plain", None):
        raise Mistake(f"scheme={scheme!r} is not known. Use {listed(SCHEMES)}, or 'plain' to check nothing.")
    layout = _sniff(path, tagged)
    default_word, default_tag = ("form", "upos") if layout.conllu else (0, -1)
    word_place = _place(layout, default_word if word_column is None else word_column, path)
    if not tagged:
        return _untagged(list(_sentences(path, layout, word_place, word_place)), path)
    tag_place = _place(layout, default_tag if tag_column is None else tag_column, path)
    sentences = list(_sentences(path, layout, word_place, tag_place))
    found = scheme or scheme_of([one.tags for one in sentences]) or "plain"
    if found != "plain":
        _check(sentences, found, path, layout.names[tag_place])
    said = _said(path, layout, tag_place, found, tag_column is None, scheme is None)
    examples = tuple(TaggedWords(tuple(one.words), tuple(one.tags)) for one in sentences)
    return Dataset(examples, path, said, tuple(one.lines[0] for one in sentences), layout.names[tag_place])


def has_columns(path: Path) -> bool:
    """Whether a file has a word a line, with its tags or without, rather than a text a line.

    Words stand alone or in the same number of columns everywhere, with blank lines or tabs between; a few texts of
    equally many words are texts.
    """
    lines = [line for _, line in islice(numbered_lines(path), _LOOKED_AT)]
    words = [line for line in lines if line.strip() and not line.startswith(("-DOCSTART-", "#"))]
    if len({len(line.split()) for line in words}) != 1 or len(words) < 2:
        return kind(path) == ".conllu" or any(line.count("\t") == 9 for line in words)
    parted = any(not line.strip() for line in lines) or all("\t" in line.strip() for line in words)
    return parted or len(words[0].split()) == 1 or len(words) >= _EQUAL


@dataclass(frozen=True, slots=True)
class _Layout:
    names: tuple[str, ...]
    separator: str
    conllu: bool = False

    def cells(self, line: str) -> list[str]:
        if self.separator == "\t":
            return line.rstrip("\r\n").split("\t")
        return [cell for cell in line.strip(" \r\n").split(" ") if cell]  # split() would cut at a no-break space


@dataclass(frozen=True, slots=True)
class _Sentence:
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of each word


def _untagged(sentences: list[_Sentence], path: Path) -> Dataset[TaggedWords]:
    examples = tuple(TaggedWords(tuple(one.words), ()) for one in sentences)
    return Dataset(examples, path, (), tuple(one.lines[0] for one in sentences))


def _sniff(path: Path, tagged: bool) -> _Layout:
    """What the first line with a word looks like; a comment counts as one only in CoNLL-U."""
    lines = numbered_lines(path)
    words = ((number, line) for number, line in lines if line.strip() and not line.startswith("-DOCSTART-"))
    number, line = first = next(words, (0, ""))
    while line.startswith("#"):
        number, line = next(words, (0, ""))
    if line.count("\t") == 9 and _ID.fullmatch(line.split("\t")[0]):
        return _Layout(_CONLLU, "\t", conllu=True)
    if kind(path) == ".conllu" and line:
        raise BadData(f"found {shown(line.strip())}; wanted the ten columns of CoNLL-U, parted by tabs.", path, number)
    number, line = (0, "") if kind(path) == ".conllu" else first  # in plain columns a word can be "#"
    if not line:
        raise BadData("it has no words. Wanted: a word and its tag a line, a blank line between sentences.", path)
    layout = _Layout((), "\t" if "\t" in line.strip() else " ")
    n_columns = len(layout.cells(line))
    if tagged and n_columns < 2:
        raise BadData(
            f"found {shown(line.strip())}; wanted a word and its tag, parted by a space or tab.", path, number
        )
    return _Layout(_NAMES.get(n_columns, tuple(map(str, range(n_columns)))), layout.separator)


def _place(layout: _Layout, column: Column, path: Path) -> int:
    n_columns = len(layout.names)
    if column in layout.names:
        return layout.names.index(str(column))
    try:
        place = int(column)
    except ValueError:
        place = n_columns
    if -n_columns <= place < n_columns:
        return place % n_columns
    raise BadData(
        f"there is no column {column!r}; there are {n_columns}, by number 0 to {n_columns - 1}, by name "
        f"{listed(layout.names, 10)}.{did_you_mean(str(column), layout.names)}",
        path,
    )


def _sentences(path: Path, layout: _Layout, word_place: int, tag_place: int) -> Iterator[_Sentence]:
    sentence = _Sentence()
    for number, line in numbered_lines(path):
        if not line.strip() or (not layout.conllu and line.startswith("-DOCSTART-")):
            if sentence.words:
                yield sentence
                sentence = _Sentence()
        elif (cells := _word(line, number, len(sentence.words), layout, path)) is not None:
            for place in (word_place, tag_place):
                _check_cell(cells, place, number, layout, path)
            sentence.words.append(cells[word_place])
            sentence.tags.append(cells[tag_place])
            sentence.lines.append(number)
            if len(sentence.words) > _LONGEST:
                raise BadData(f"{_LONGEST} words without a blank line: sentences want one between them.", path, number)
    if sentence.words:
        yield sentence


def _word(line: str, number: int, n_before: int, layout: _Layout, path: Path) -> list[str] | None:
    """The columns of a word; None for a comment, the range of a multiword token or an empty node of CoNLL-U."""
    if layout.conllu and line.startswith("#"):
        return None
    cells = layout.cells(line)
    if len(cells) != len(layout.names):
        raise BadData(
            f"the line has {len(cells)} columns, {shown(line.strip())}; wanted {len(layout.names)} as on the first: "
            f"{listed(layout.names, 10)}.",
            path,
            number,
        )
    if not layout.conllu:
        return cells
    parts = _ID.fullmatch(cells[0])
    if parts is None:
        raise BadData(f"found {shown(cells[0])}; wanted a word's number, as 3, 3-4 or 3.1.", path, number, "id")
    if parts[2]:
        return None
    if cells[0] != str(n_before + 1):
        problem = f"word {shown(cells[0])} follows {n_before} words; wanted {n_before + 1}."
        raise BadData(f"{problem} Is a blank line missing between two sentences?", path, number, "id")
    return cells


def _check_cell(cells: list[str], place: int, number: int, layout: _Layout, path: Path) -> None:
    if not cells[place].strip():
        raise BadData("it is empty. Fill it in, or delete the line.", path, number, layout.names[place])
    if layout.conllu and cells[place] == "_" and layout.names[place] != "form":
        raise BadData(
            f"the word {shown(cells[1])} has none ('_'). Fill it in, or choose another with {_CHOICE}.",
            path,
            number,
            layout.names[place],
        )


def _check(sentences: list[_Sentence], scheme: str, path: Path, column: str) -> None:
    for one in sentences:
        for tag, line in zip(one.tags, one.lines, strict=True):
            if not is_span_tag(tag):
                raise BadData(
                    f"{shown(tag)} is no tag of a span; wanted O, or B- or I- and a type, as in B-PER. {_REMEDY}",
                    path,
                    line,
                    column,
                )
        # In IOB1 any order can be read: CoNLL-2003's own training file has a B-MISC after O.
        if scheme != "IOB1" and (place := first_break(one.tags, scheme)) is not None:
            before = f"after {one.tags[place - 1]!r}" if place else "at the start of the sentence"
            raise BadData(
                f"{shown(one.tags[place])} {before} breaks {scheme}, which the rest follows: {SCHEMES[scheme]}. "
                f"{_REMEDY}",
                path,
                one.lines[place],
                column,
            )


def _said(
    path: Path, layout: _Layout, place: int, scheme: str, column_guessed: bool, scheme_guessed: bool
) -> tuple[str, ...]:
    format_name = "CoNLL-U" if layout.conllu else f"{len(layout.names)} CoNLL columns"
    said = []
    if column_guessed:
        said.append(f"{path}: {format_name}, tags in column {layout.names[place]!r} (guessed; choose with {_CHOICE})")
    if scheme_guessed and scheme != "plain":
        said.append(f"{path}: the tags mark spans in {scheme} (guessed; in Python choose with scheme=)")
    return tuple(said)
