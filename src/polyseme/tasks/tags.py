"""Tags that mark spans of words (IOB1, IOB2, IOBES): reading them, checking them, scoring them."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from polyseme.errors import Mistake

SCHEMES = {  # and what each asks for
    "IOB2": "a span begins with B- and goes on with I- of the same type",
    "IOB1": "a span begins with I-, and with B- only right behind another of its type",
    "IOBES": "a span is one S-, or begins with B-, goes on with I- and ends with E-",
}
_FORM = re.compile(r"O|[BIES](-.+)?", re.DOTALL)


class Span(NamedTuple):
    """words[start:end] is of this type."""

    start: int
    end: int
    type: str


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of one sentence by the rules of CoNLL's scorer, which reads every scheme and forgives broken ones.

    >>> spans(["I-PER", "I-PER", "B-PER", "O", "I-LOC"])
    [Span(start=0, end=2, type='PER'), Span(start=2, end=3, type='PER'), Span(start=4, end=5, type='LOC')]
    """
    found: list[Span] = []
    before = "O"
    for place, tag in enumerate(tags):
        if not is_span_tag(tag):
            raise Mistake(f"{tag!r} is no tag of a span. Wanted: O, or B-, I-, E- or S- and a type, as in B-PER.")
        if _goes_on(before, tag):
            found[-1] = found[-1]._replace(end=place + 1)
        elif tag != "O":
            found.append(Span(place, place + 1, tag[2:] or "_"))
        before = tag
    return found


def to_iob2(tags: Sequence[str]) -> list[str]:
    """The same spans in IOB2, where each begins with B-, from IOB1 or any other scheme.

    >>> to_iob2(["I-PER", "I-PER", "B-PER", "O", "I-LOC"])
    ['B-PER', 'I-PER', 'B-PER', 'O', 'B-LOC']
    """
    out = ["O"] * len(tags)
    for start, end, _ in spans(tags):
        out[start:end] = ["B" + tags[start][1:], *("I" + tag[1:] for tag in tags[start + 1 : end])]
    return out


def span_f1(wanted: Iterable[Sequence[str]], given: Iterable[Sequence[str]]) -> float:
    """F1 over the spans of all sentences: a span counts where its start, end and type are right."""
    n_wanted = n_given = n_right = 0
    for one, other in zip(wanted, given, strict=True):
        wanted_spans, given_spans = set(spans(one)), set(spans(other))
        n_wanted, n_given = n_wanted + len(wanted_spans), n_given + len(given_spans)
        n_right += len(wanted_spans & given_spans)
    return 2 * n_right / (n_wanted + n_given) if n_right else 0.0


@lru_cache(4096)
def is_span_tag(tag: str) -> bool:
    """Whether it is O, or B, I, E or S, alone or with a type behind a hyphen."""
    return _FORM.fullmatch(tag) is not None


def scheme_of(sentences: Iterable[Sequence[str]]) -> str | None:
    """The scheme that the fewest sentences break; None where most tags are not those of spans.

    >>> scheme_of([["I-PER", "O"], ["I-LOC", "B-LOC"]]), scheme_of([["NOUN", "VERB"]])
    ('IOB1', None)
    """
    sentences = list(sentences)
    tags = [tag for sentence in sentences for tag in sentence]
    if wrong := [tag for tag in tags if not isinstance(tag, str)]:
        raise Mistake(f"One of the tags is {wrong[0]!r}; wanted are strings, such as 'B-PER' or 'NOUN'. Give names.")
    n_typed = sum(is_span_tag(tag) and "-" in tag for tag in tags)
    if not n_typed or 2 * (n_typed + tags.count("O")) < len(tags):
        return None
    well_formed = [sentence for sentence in sentences if all(map(is_span_tag, sentence))]
    return min(SCHEMES, key=lambda scheme: sum(first_break(one, scheme) is not None for one in well_formed))


def first_break(tags: Sequence[str], scheme: str) -> int | None:
    """Where a sentence's tags first break a scheme's rules: the place of the wrong tag, or of the one cut short."""
    for place, (before, tag) in enumerate(zip(["O", *tags], [*tags, "O"], strict=True)):
        if not _allowed(before, tag, scheme):
            return min(place, len(tags) - 1)
    return None


def _goes_on(before: str, tag: str) -> bool:
    return before[0] in "BI" and tag[0] in "IE" and before[2:] == tag[2:]


@lru_cache(4096)
def _allowed(before: str, tag: str, scheme: str) -> bool:
    same = before != "O" and before[2:] == tag[2:]
    match scheme:
        case "IOB1":  # B only where a span follows another of its type at once
            return tag[0] in "OI" or (tag[0] == "B" and same)
        case "IOB2":  # I only inside a span
            return tag[0] in "OB" or (tag[0] == "I" and same)
        case _:
            return (same and tag[0] in "IE") if before[0] in "BI" else tag[0] in "OBS"
