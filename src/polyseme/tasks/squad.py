"""Questions with answer spans from files in the layout of SQuAD 1.1 and 2.0."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyseme.errors import BadData, listed
from polyseme.tasks.examples import Dataset, Question
from polyseme.tasks.json_lines import has_half_pair, parse_json
from polyseme.tasks.lines import shown, whole_text

_KINDS = {str: "a string", list: "a list", dict: "an object", int: "a whole number", bool: "true or false"}


def read_questions(path: Path | str, *, answered: bool = True) -> Dataset[Question]:
    """Every question of a file; `answered=False` reads one whose answers are not wanted and may be missing."""
    path = Path(path)
    examples = tuple(_questions(_parsed(path), path, answered))
    if not examples:
        raise BadData("it has no questions.", path)
    places: dict[str, int] = {}
    for place, example in enumerate(examples):
        if places.setdefault(example.id, place) != place:
            raise BadData(f"two questions have the id {shown(example.id)}. Give each its own.", path)
    return Dataset(examples, path)


def _parsed(path: Path) -> Any:
    text = whole_text(path)
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise BadData(f"it is not JSON: {error.msg} at character {error.colno}.", path, error.lineno) from None
    except ValueError as error:
        raise BadData(f"it is not JSON: {error}.", path) from None


def _questions(content: Any, path: Path, answered: bool) -> Iterator[Question]:
    _check(content, dict, "the file", path)
    for article, where in _each(content, "data", "", path):
        for paragraph, where_paragraph in _each(article, "paragraphs", f"{where}.", path):
            context = _get(paragraph, "context", str, where_paragraph, path)
            for asked, where_asked in _each(paragraph, "qas", f"{where_paragraph}.", path):
                yield _question(asked, context, where_asked, path, answered)


def _question(asked: dict[str, Any], context: str, where: str, path: Path, answered: bool) -> Question:
    name, question = _get(asked, "id", str, where, path), _get(asked, "question", str, where, path)
    if not question.strip() or not context.strip():
        empty = "context" if question.strip() else "question"
        raise BadData(f"{where}: the {empty} is empty. Fill it in, or delete the question.", path)
    if not answered:
        return Question(name, context, question, ())
    impossible = "is_impossible" in asked and _get(asked, "is_impossible", bool, where, path)
    answers = tuple(_span(answer, context, place, path) for answer, place in _each(asked, "answers", f"{where}.", path))
    if impossible and answers:
        raise BadData(f"{where}: is_impossible is true, yet there are answers. Correct one or the other.", path)
    if not impossible and not answers:
        raise BadData(f"{where}: there are no answers. Add one, or set is_impossible to true.", path)
    return Question(name, context, question, answers)


def _span(answer: dict[str, Any], context: str, where: str, path: Path) -> tuple[int, int]:
    text, start = _get(answer, "text", str, where, path), _get(answer, "answer_start", int, where, path)
    if not text.strip():
        raise BadData(f"{where}: the answer is empty. Wanted: a part of the context.", path)
    if start < 0 or context[start : start + len(text)] != text:
        raise BadData(f"{where}: {_misplaced(text, start, context)}", path)
    return start, start + len(text)


def _misplaced(text: str, start: int, context: str) -> str:
    if 0 <= start < len(context):
        stands = f"at answer_start {start} of the context stands {shown(context[start : start + len(text)])}"
    else:
        stands = f"answer_start {start} is outside the context, which has {len(context)} characters"
    found = [place for place in range(len(context)) if context.startswith(text, place)]
    if not found:
        return f"{stands}; wanted {shown(text)}, which is nowhere in it. Copy the answer from the context as it is."
    units = _other_units(found, start, context)
    return f"{stands}; wanted {shown(text)}, which is found at {listed(map(str, found))}.{units} Correct answer_start."


def _other_units(found: list[int], start: int, context: str) -> str:
    """A start that is right when something else than characters is counted."""
    for encoding, width, unit in (("utf-8", 1, "bytes"), ("utf-16-le", 2, "UTF-16 units")):
        if any(len(context[:place].encode(encoding, "surrogatepass")) // width == start for place in found):
            return f" It seems to count {unit}; wanted characters."
    return ""


def _each(owner: dict[str, Any], key: str, prefix: str, path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list and where in the file each is, as data[3].paragraphs[0]."""
    values = _get(owner, key, list, prefix.removesuffix(".") or "the file", path)
    for place, value in enumerate(values):
        _check(value, dict, f"{prefix}{key}[{place}]", path)
        yield value, f"{prefix}{key}[{place}]"


def _get(owner: dict[str, Any], key: str, wanted: type, where: str, path: Path) -> Any:
    if key not in owner:
        raise BadData(f"{where}: there is no {key!r}; found {listed(map(shown, owner))}.", path)
    _check(owner[key], wanted, f"{where}.{key}", path)
    if wanted is str and has_half_pair(owner[key]):
        raise BadData(f"{where}.{key} holds half a surrogate pair. Write the whole character.", path)
    return owner[key]


def _check(value: Any, wanted: type, where: str, path: Path) -> None:
    if type(value) is not wanted:
        raise BadData(f"{where}: found {shown(value)}; wanted {_KINDS[wanted]}.", path)
