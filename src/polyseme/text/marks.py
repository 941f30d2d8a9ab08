"""fastai's rules: a word to lower-case pieces, with marks for what lower-casing loses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from polyseme.text.words import split
from polyseme.types import Text

SPECIAL = ("xxunk", "xxpad", "xxbos", "xxeos", "xxfld", "xxrep", "xxwrep", "xxup", "xxmaj")
UNK, PAD, BOS, EOS, FLD, REP, WREP, UP, MAJ = SPECIAL
FAKE = "xxfake"  # fastai fills its vocabularies up to a multiple of eight with this

_REWRITTEN = {"...": "…", "<unk>": UNK, "@-@": "-"}  # the marks of WikiText, on which the released models learned
_RUN = re.compile(r"(\S)\1{2,}")
_APART = re.compile(r"[/#\\]")
# ASCII on purpose: fastai's rules mark "The" but not "Él", and the released models know nothing else
_ALL_CAPITALS, _CAPITALISED = re.compile(r"[A-Z]+[^a-z\s]*"), re.compile(r"[A-Z][^A-Z\s]*")
_HYPHEN = re.compile(r"(?<=[^\W_])[-–—](?=[^\W\d_])|(?<=\d)-(?=\d)")
_WHOLE = re.compile(r"[^\W\d_]\.|a\.m\.|p\.m\.|e\.g\.|i\.e\.|co\.|vs\.")
_FUSED = {"cannot": "can not", "gonna": "gon na", "gotta": "got ta"}


def marked_pieces(word: str) -> list[str]:
    """The pieces of one word.

    fastai splits with spaCy, which polyseme does without. Our words are close to its own, and where spaCy cuts one
    of them once more (hyphens, the full stop of an abbreviation), it is cut here; units ("18mm"), emoticons and
    spellings without their apostrophe ("cant") are not. Two rules differ on purpose. Case is judged word by word, so
    that `"The` is marked: fastai leaves a word alone that touches a quote or a bracket, but the text its models
    learned from had spaces there. And "very very very" and "!!!" stay three words instead of `xxwrep 3 very` and
    `xxrep 3 !`, since every word keeps a piece of its own. HTML is left as it stands.

    >>> marked_pieces("The"), marked_pieces("GREAT"), marked_pieces("I"), marked_pieces("soooo")
    (['xxmaj', 'the'], ['xxup', 'great'], ['i'], ['s', 'xxrep', '4', 'o'])
    >>> marked_pieces("Well-known"), marked_pieces("and/or"), marked_pieces("Mr.")
    (['xxmaj', 'well', '-', 'known'], ['and', '/', 'or'], ['xxmaj', 'mr', '.'])
    """
    if word in _REWRITTEN:
        return [_REWRITTEN[word]]
    spaced = _RUN.sub(lambda run: f" {REP} {len(run[0])} {run[1]} ", word)
    parts = _APART.sub(r" \g<0> ", spaced).split()
    return [piece for part in parts for piece in (*_mark(part), *_cut(part))]


def vocabulary(texts: Iterable[Text], max_words: int = 60_000, min_count: int = 3) -> list[str]:
    """The special words, then the most frequent pieces of some texts.

    >>> vocabulary([Text("The cat", ((0, 3), (4, 7)))], min_count=1)[len(SPECIAL):]
    ['cat', 'the']
    """
    words = Counter(word for text in texts for word in text.words)
    pieces: Counter[str] = Counter()
    for word, count in words.items():
        for piece in marked_pieces(word):
            pieces[piece] += count
    return most_frequent(pieces, max_words, min_count)


def most_frequent(counts: Mapping[str, int], max_words: int, min_count: int) -> list[str]:
    """The special words, then the pieces that come often enough, most frequent first.

    >>> most_frequent({"cat": 2, "xxmaj": 9, "a": 2, "rare": 1}, max_words=11, min_count=2)[len(SPECIAL):]
    ['a', 'cat']
    """
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))  # the same on every run
    frequent = [piece for piece, count in ranked if count >= min_count and piece not in SPECIAL]
    return [*SPECIAL, *frequent[: max(0, max_words - len(SPECIAL))]]


def _mark(part: str) -> tuple[str, ...]:
    if len(part) > 1 and _ALL_CAPITALS.fullmatch(part):
        return (UP,)
    return (MAJ,) if len(part) > 1 and _CAPITALISED.fullmatch(part) else ()


def _cut(part: str) -> Iterator[str]:
    """What spaCy makes of a part, in lower case."""
    for piece in _HYPHEN.sub(r" \g<0> ", _FUSED.get(part.lower(), part)).split():
        if _WHOLE.fullmatch(piece.lower()):
            yield piece.lower()
            continue
        for start, end in split(piece):
            stop = end - start > 1 and piece[end - 1] == "." and piece[end - 2].isalnum()
            cut = (piece[start : end - 1], ".") if stop else (piece[start:end],)
            yield from (found.lower() for found in cut)
