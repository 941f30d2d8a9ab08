"""Strings to words with their character spans, and words to sentences, by rules for English and Latin scripts."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from polyseme.errors import Mistake
from polyseme.types import Text

# Words that keep their full stop. Those a number must follow to be one are apart: "No. 5", but "I said no."
_TITLES = "Mr Mrs Ms Dr Prof St Sr Jr Gen Col Capt Lt Sgt Rev Hon Pres Gov Sen Rep Messrs Mme Mlle"
_OTHERS = "vs etc cf al viz approx dept est inc ltd co corp bros assn univ ave blvd rd mt ft"
_MONTHS = "jan feb mar apr jun jul aug sep sept oct nov dec"
_NUMBERED = "no nos p pp vol vols ch fig figs eq art sec op"
_MAY_END = {"etc.", "a.m.", "p.m.", "al.", "A.M.", "P.M."}

_TERMINATORS = {".", "!", "?", "…", "...", "。", "！", "？", "।", "॥", "؟", "۔"}
_CLOSERS = {"''", "”", "’", "»", "›", ")", "]", "}", "」", "』", "）"}
_ALWAYS_END = {"!", "?", "。", "！", "？", "।", "॥", "؟", "۔"}


def to_text(text: str | Sequence[str] | Text) -> Text:
    """A Text from a string, or from the list of its words where it is split already.

    >>> to_text("It's a hard nut, isn't it?").words
    ['It', "'s", 'a', 'hard', 'nut', ',', 'is', "n't", 'it', '?']
    >>> to_text(["New York", "is", "big"]).spans
    ((0, 8), (9, 11), (12, 15))
    """
    if isinstance(text, Text):
        return text
    if isinstance(text, str):
        return Text(text, tuple(split(text)))
    if not all(isinstance(word, str) for word in text):
        wrong = next(word for word in text if not isinstance(word, str))
        raise Mistake(
            f"A text is a string or a list of words; found {wrong!r} ({type(wrong).__name__}) among the words."
        )
    spans, start = [], 0
    for word in text:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return Text(" ".join(text), tuple(spans))


def split(string: str) -> list[tuple[int, int]]:
    """The spans of the words of a string.

    Punctuation stands alone; clitics are cut off as in the Penn Treebank (do|n't, it|'s); hyphenated words, numbers,
    abbreviations, addresses and emoji sequences stay whole; ideographs stand alone. White space, control and
    direction marks belong to no word.
    """
    return [match.span() for match in _pattern(string.isascii()).finditer(string)]


def sentence_ends(words: Sequence[str]) -> list[int]:
    """Where each sentence ends: words[0:ends[0]], words[ends[0]:ends[1]], …

    >>> words = to_text('Dr. Who left. "Why?" she asked. No. 5 is alive!').words
    >>> ends = sentence_ends(words)
    >>> [" ".join(words[start:end]) for start, end in zip([0, *ends], ends)]
    ['Dr. Who left .', '" Why ? " she asked .', 'No. 5 is alive !']
    """
    ends: list[int] = []
    for place in [i for i, word in enumerate(words) if word in _TERMINATORS or word in _MAY_END]:
        start = ends[-1] if ends else 0
        if place < start:
            continue  # "?!" or a closing quote took it already
        end = place + 1
        while end < len(words) and (words[end] in _TERMINATORS or _closes(words, start, end)):
            end += 1
        if end == len(words) or not _goes_on(words[place], words[end]):
            ends.append(end)
    if len(words) and (not ends or ends[-1] < len(words)):
        ends.append(len(words))
    return ends


def _closes(words: Sequence[str], start: int, place: int) -> bool:
    """Whether this is a closing mark; a straight quote closes when one is open since the sentence's start."""
    if words[place] in {'"', "'"}:
        return words[start:place].count(words[place]) % 2 == 1
    return words[place] in _CLOSERS


def _goes_on(mark: str, following: str) -> bool:
    """Whether the sentence goes on behind this mark, as it does before a small letter."""
    return following[:1].islower() or (mark not in _ALWAYS_END and following in {",", ";", ":"})


@cache
def _pattern(ascii_only: bool) -> re.Pattern[str]:
    """One expression for all words; plain ASCII text, which is most of it, has a simpler one.

    Every repetition before a mark that decides (@, //) is bounded, so that no text takes more than linear time.
    """
    marks, ideographs, apostrophe, hyphen = (
        ("", "", "'", "-")
        if ascii_only
        else (
            _marks(),
            "぀-ヿ㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff",
            "'’",
            "-‐‑",
        )
    )
    letter = rf"[^\W{ideographs}]" if ideographs else r"\w"
    run = rf"{letter}+(?:[{marks}]+{letter}*)*" if marks else rf"{letter}+"
    clitic = rf"[{apostrophe}](?:s|re|ve|ll|d|m)(?!{letter})"
    titles = "|".join(f"{w}|{w.lower()}" for w in f"{_TITLES} {_OTHERS.title()} {_MONTHS.title()}".split())
    numbered = "|".join(f"{w}|{w.title()}" for w in _NUMBERED.split())
    alternatives = [
        rf"{letter}+(?=\s)|[A-Za-z]+(?=[,;)])",  # nearly every word ends here; what follows is for the rest
        r"(?i:https?://|www\.)[^\s<>\"]{0,2000}[^\s<>\"'.,;:!?)\]}’”…]",
        r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}",
        rf"[@#]{letter}+",
        r"\b(?:[^\W\d_]\.){2,}",  # U.S., e.g.
        rf"\b(?:{titles})\.(?=\s|,|$)",
        rf"\b(?:{numbered})\.(?=\s?\d)",
        r"\b[A-Z]\.(?=\s[A-Z])",  # an initial
        r"\d+(?:[.,:/]\d+)+(?:st|nd|rd|th|s)?\b",
        r"\b[A-Z]\w{0,8}&[A-Z]\w{0,8}\b",  # AT&T
        r"\b(?:[Cc]\+\+|[CcFf]\#)(?!\w)",
        rf"(?i:n[{apostrophe}]t)(?!{letter})",
        rf"(?i:{clitic})",
        rf"{letter}+?(?=(?i:n[{apostrophe}]t)(?!{letter}))",
        rf"{run}(?:(?:[{hyphen}]|(?!(?i:{clitic}))[{apostrophe}]){run})*",
        r"\.{2,}|-{2,}|``|''",
    ]
    if not ascii_only:
        emoji = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
        modifiers = "\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
        alternatives += [
            "[\U0001f1e6-\U0001f1ff]{2}",  # two regional letters are a flag
            rf"[{emoji}][{modifiers}]*(?:\u200d[{emoji}][{modifiers}]*)*",
            rf"[{ideographs}][{marks}]*",
        ]
    silent = r"\s\x00-\x1f\x7f" if ascii_only else rf"\s\x00-\x1f\x7f-\x9f{_silent()}"
    mark_behind = rf"[{marks}]*" if marks else ""
    return re.compile("|".join([*alternatives, rf"[^{silent}]{mark_behind}"]))


@cache
def _marks() -> str:
    """Characters that belong to the letter before them: combining marks, joiners, the soft hyphen."""
    return _class_of("M") + "\u00ad\u200c\u200d\u2060"


@cache
def _silent() -> str:
    """Format characters, such as marks of direction: they show nothing and are no word."""
    return _class_of("Cf")


def _class_of(category: str) -> str:
    """The inside of a character class, as ranges, for a Unicode category."""
    points = [
        p
        for p in (*range(0x80, 0x20000), *range(0xE0000, 0xE01F0))
        if unicodedata.category(chr(p)).startswith(category)
    ]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
