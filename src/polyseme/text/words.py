"""Strings to words with their character spans, and words to sentences, by rules for English and Latin scripts."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from polyseme.errors import Mistake
from polyseme.types import Text

RULES = 2  # one more whenever the words or the sentences of some text change: shards say what they were split by

# Words that keep their full stop. Those a number must follow to be one are apart: "No. 5", but "I said no."
_TITLES = "Mr Mrs Ms Dr Prof Gen Col Capt Lt Lieut Maj Sgt Cpl Adm Fr Rev Hon Pres Gov Sen Rep Messrs Mme Mlle"
_LINKS = "vs cf viz approx est"
_OTHERS = "St Sr Jr etc al dept inc ltd co corp bros assn univ ave blvd rd mt ft"
_MONTHS = "jan feb mar apr jun jul aug sep sept oct nov dec"
_NUMBERED = "no nos p pp vol vols ch fig figs eq art sec op c ca b d"
_DEGREES = r"(?:Ph|Ed|LL|Litt)\.[BDM](?!\w)\.?|[BDM]\.(?:Sc|Phil|Ed|Tech|Com|Eng|Arch|Mus|Div)\."

_LAST = frozenset(".!?…。！？।॥؟۔")  # the last characters of the words that may end a sentence
_LAST_OR_QUOTE = _LAST | {'"', "'"}
_TERMINATORS = {*_LAST, "..."}
_CLOSERS = {"''", "”", "’", "»", "›", ")", "]", "}", "」", "』", "）"}
_ALWAYS_END = _LAST - {".", "…"}
_MAY_END = {"etc.", "a.m.", "p.m.", "al.", "A.M.", "P.M."}
_NEVER_END = {f"{word}." for word in f"{_TITLES} {_TITLES.lower()} {_LINKS} e.g i.e".split()}
# What seldom is a name: behind an abbreviation, it begins a sentence ("in the U.S. The", but "the U.S. Senate").
_STARTERS = """The This That These Those There He She It They We I You His Her Its Their My Our In On At By From To For
With After Before During Since When While Although As If However But And Then A An"""
_STARTS = frozenset(_STARTERS.split())


def to_text(text: str | Sequence[str] | Text) -> Text:
    """A Text from a string, or from the list of its words where it is split already.

    >>> to_text("It's a hard nut, isn't it?").words
    ['It', "'s", 'a', 'hard', 'nut', ',', 'is', "n't", 'it', '?']
    >>> to_text(["New York", "is", "big"]).spans
    ((0, 8), (9, 11), (12, 15))
    """
    if isinstance(text, Text):
        return text
    if not isinstance(text, str | Sequence):
        raise Mistake(f"A text is a string or a list of words; found {text!r:.40} ({type(text).__name__}).")
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


def words_in(string: str) -> list[str]:
    """The words of `split` without their spans, for corpora: a match object a word is what takes the time.

    >>> words_in("Well-read, isn't he?")
    ['Well-read', ',', 'is', "n't", 'he', '?']
    """
    return _pattern(string.isascii()).findall(string)


def sentence_ends(words: Sequence[str]) -> list[int]:
    """Where each sentence ends: words[0:ends[0]], words[ends[0]:ends[1]], …

    >>> words = to_text('Dr. Who left. "Why?" she asked. No. 5 is alive!').words
    >>> ends = sentence_ends(words)
    >>> [" ".join(words[start:end]) for start, end in zip([0, *ends], ends)]
    ['Dr. Who left .', '" Why ? " she asked .', 'No. 5 is alive !']
    """
    ends: list[int] = []
    start = end = 0
    places = [i for i, word in enumerate(words) if word[-1:] in _LAST_OR_QUOTE]
    quotes = {mark: [i for i in places if words[i] == mark] for mark in ('"', "'")}
    for place in places:
        if place < end or words[place][-1:] not in _LAST:
            continue  # a quote, or the marks before took it already: "?!"
        end = place + 1
        while end < len(words) and (words[end] in _TERMINATORS or _closes(words[end], start, end, quotes)):
            end += 1
        if end < len(words) and _ends_before(words[place], words[end]):
            ends.append(end)
            start = end
    return [*ends, len(words)] if len(words) else ends


def _closes(word: str, start: int, place: int, quotes: dict[str, list[int]]) -> bool:
    """Whether this is a closing mark; a straight quote is one when an odd number of them stands before it.

    Speech goes on over several sentences, so " is counted from the start; ' is an apostrophe as well ("dogs'"), so
    it is counted from the start of the sentence, and an error ends there.
    """
    if word == '"':
        return bisect_left(quotes['"'], place) % 2 == 1
    if word == "'":
        return (bisect_left(quotes["'"], place) - bisect_left(quotes["'"], start)) % 2 == 1
    return word in _CLOSERS


def _ends_before(mark: str, following: str) -> bool:
    """Whether a sentence ends with this mark, or abbreviation, when that word follows."""
    if following[:1].islower():
        return False
    if mark in _ALWAYS_END:
        return True
    if mark in _TERMINATORS or mark in _MAY_END:
        return following not in {",", ";", ":"}
    return following in _STARTS and mark not in _NEVER_END


@cache
def _pattern(ascii_only: bool) -> re.Pattern[str]:
    """One expression for all words; plain ASCII text, which is most of it, has a simpler one.

    Every repetition before a mark that decides (@, //) is bounded or possessive, so that no text takes more than
    linear time. White space fails at once, and what most words and marks look like is tried first.
    """
    marks, ideographs, apostrophe, hyphen = ("", "", "'", "-") if ascii_only else (_marks(), _IDEOGRAPHS, "'’", "-‐‑")
    letter = rf"[^\W{ideographs}]" if ideographs else r"\w"
    run = rf"{letter}+(?:[{marks}]+{letter}*)*" if marks else rf"{letter}+"
    atom = rf"(?:\d++(?:[.,:/]\d+)+{letter}*|[A-Za-z]{{1,8}}\d{{1,4}}(?:\.\d+)+|{run})"
    clitic = rf"(?i:[{apostrophe}](?:s|re|ve|ll|d|m)(?!{letter}))"
    negation = rf"(?i:n[{apostrophe}]t)(?!{letter})"
    alternatives = [
        r"[A-Za-z]++(?=[\s,;)\"])",
        r"[:;=](?<!\S[:;=])-?[()DPp](?=\s|\Z)",  # :-)
        r"[,;()\"](?=[\x00-\x7f]|\Z)|\.(?=\s|\Z)",
        rf"{letter}++(?=\s)|[a-z]{{7,}}+(?=\.(?:\s|\Z))",  # no abbreviation below is that long
        r"(?i:https?://|www\.)[^\s<>\"]{0,2000}[^\s<>\"'.,;:!?)\]}’”…]",
        r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}",
        r"\b\w[\w-]{0,63}\.(?:\w[\w-]{0,63}\.){0,3}(?:com|org|net|edu|gov|info|(?:co|ac|org)\.uk)\b",
        rf"[@#]{letter}+",
        *_abbreviations(),
        r"\b[A-Z]\w{0,8}&[A-Z]\w{0,8}\b",  # AT&T
        r"\b(?:[Cc]\+\+|[CcFf]\#)(?!\w)",
        rf"(?i:[{apostrophe}](?:n[{apostrophe}]|(?:em|tis|twas|til|\d\ds?)(?!{letter})))",  # rock 'n' roll, the '90s
        rf"{negation}|{clitic}|{letter}+?(?={negation})",
        rf"{atom}(?:(?:[{hyphen}]|(?!{clitic})[{apostrophe}]){atom})*",
        r"\.{2,}|-{2,}|``|''",
    ]
    if not ascii_only:
        alternatives += _emoji()
        alternatives += [rf"[{ideographs}][{marks}]*"]
    silent = r"\s\x00-\x1f\x7f" if ascii_only else rf"\s\x00-\x1f\x7f-\x9f{_silent()}"
    mark_behind = rf"[{marks}]*" if marks else ""
    return re.compile(rf"(?=\S)(?:{'|'.join(alternatives)}|[^{silent}]{mark_behind})")


def _abbreviations() -> list[str]:
    kept = "|".join(f"{w}|{w.lower()}" for w in f"{_TITLES} {f'{_LINKS} {_OTHERS} {_MONTHS}'.title()}".split())
    numbered = "|".join(f"{w}|{w.title()}" for w in _NUMBERED.split())
    return [
        r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_](?!\w))?",  # U.S., e.g., U.S.A
        rf"\b(?:{_DEGREES})",
        rf"\b(?:{kept})\.(?=\s|,|$)",
        rf"\b(?:{numbered})\.(?=\s?\d)",
        r"\b[A-Z]\.(?=\s[A-Z])",  # an initial
    ]


def _emoji() -> list[str]:
    emoji = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
    modifiers = "\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
    return [
        "[\U0001f1e6-\U0001f1ff]{2}",  # two regional letters are a flag
        rf"[{emoji}][{modifiers}]*(?:\u200d[{emoji}][{modifiers}]*)*",
    ]


# Kana and Han, as escapes: an editor that normalises text turns U+F900 into U+8C48, and Hangul is in between.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


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
