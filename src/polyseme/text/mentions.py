"""Where a word stands: in a few sentences, or all over a corpus of any size."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyseme.errors import Mistake, did_you_mean, listed
from polyseme.text.corpus import find, passages
from polyseme.text.order import seed_for
from polyseme.text.words import sentence_ends, split, to_text
from polyseme.types import Text

Tell = Callable[[float, float], None]  # bytes done, bytes in all

_MOST_AROUND = 100  # words kept on either side: some "sentences" are tables without a full stop


@dataclass(frozen=True, slots=True)
class Mention:
    """One word of a text."""

    text: Text
    place: int  # which of the text's words

    @property
    def word(self) -> str:
        start, end = self.text.spans[self.place]
        return self.text.string[start:end]

    def in_context(self, n_characters: int = 40) -> tuple[str, str, str]:
        """What stands before it, the word, what stands behind it: keyword in context.

        >>> mentions(["There was a crack in the old wall"], "crack")[0].in_context(10)
        ('…re was a ', 'crack', ' in the o…')
        """
        start, end = self.text.spans[self.place]
        left, right = (" ".join(part.split()) for part in (self.text.string[:start], self.text.string[end:]))
        left += " " * self.text.string[:start].endswith(" ")
        right = " " * self.text.string[end:].startswith(" ") + right
        before = left if len(left) <= n_characters else "…" + left[-n_characters + 1 :]
        behind = right if len(right) <= n_characters else right[: n_characters - 1] + "…"
        return before, self.word, behind


@dataclass(frozen=True)
class Found:
    """The mentions of a word in a corpus, or an even sample of them, in the order they stand there."""

    mentions: tuple[Mention, ...]
    n_all: int


def mentions(texts: Sequence[str], word: str, forms: Iterable[str] = ()) -> list[Mention]:
    """Every mention of a word, or of one of its other forms, in texts each of which must have one; case is not told.

    >>> [(one.word, one.place) for one in mentions(["A crack", "It cracks up"], "crack", ["cracks"])]
    [('crack', 1), ('cracks', 1)]
    """
    wanted, found = _wanted(word, forms), []
    for string in texts:
        text = to_text(string)
        here = list(_mentions(text, wanted))
        if not here:
            near = did_you_mean(word, text.words) or " Another form of the word can be named with --forms."
            raise Mistake(f"There is no {word!r} in {string!r:.80}; its words are {listed(text.words, 30)}.{near}")
        found += here
    return found


def mentions_in_corpus(
    paths: str | Path | Iterable[str | Path],
    word: str,
    forms: Iterable[str] = (),
    limit: int = 500,
    seed: int = 0,
    field: str = "text",
    tell: Tell = lambda done, total: None,
) -> Found:
    """In one pass and bounded memory. Of more than `limit` mentions the seed chooses, each as likely as any other."""
    wanted = _wanted(word, forms)
    kept: list[tuple[int, int, Mention]] = []  # a heap: those with the smallest draws stay
    n_all = 0
    for text in _sentences_with(find(paths), wanted, field, tell):
        for mention in _mentions(text, wanted):
            n_all += 1
            draw = seed_for(seed, n_all)
            if len(kept) < limit:
                heapq.heappush(kept, (-draw, n_all, _cut(mention)))
            elif draw < -kept[0][0]:
                heapq.heapreplace(kept, (-draw, n_all, _cut(mention)))
    return Found(tuple(mention for _, _, mention in sorted(kept, key=lambda one: one[1])), n_all)


def sentences(string: str) -> Iterator[Text]:
    """Each sentence of a string, its words' spans counted from its own start.

    >>> [text.words for text in sentences("It broke. Why?")]
    [['It', 'broke', '.'], ['Why', '?']]
    """
    spans, start = split(string), 0
    for end in sentence_ends([string[first:last] for first, last in spans]):
        yield _part(string, spans[start:end])
        start = end


def _wanted(word: str, forms: Iterable[str]) -> frozenset[str]:
    wanted = frozenset(form.casefold() for form in (word, *forms) if form)
    for form in wanted:
        if len(split(form)) != 1:
            raise Mistake(f"{form!r} is {len(split(form))} words; one is wanted. Ask for one of {to_text(form).words}.")
    return wanted


def _sentences_with(paths: list[Path], wanted: frozenset[str], field: str, tell: Tell) -> Iterator[Text]:
    """The sentences of passages in which a form stands; most passages need not be split to know that none does."""
    before, total = 0, sum(path.stat().st_size for path in paths)
    for path in paths:
        for passage in passages(path, field=field, on_read=lambda done, before=before: tell(before + done, total)):  # type: ignore[misc]
            folded = passage.string.casefold()
            if any(form in folded for form in wanted):
                yield from sentences(passage.string)
        before += path.stat().st_size


def _mentions(text: Text, wanted: frozenset[str]) -> Iterator[Mention]:
    return (Mention(text, place) for place, word in enumerate(text.words) if word.casefold() in wanted)


def _cut(mention: Mention) -> Mention:
    """The same in a text of bounded length."""
    first = max(0, mention.place - _MOST_AROUND)
    last = mention.place + _MOST_AROUND + 1
    if first == 0 and last >= len(mention.text.spans):
        return mention
    return Mention(_part(mention.text.string, mention.text.spans[first:last]), mention.place - first)


def _part(string: str, spans: Sequence[tuple[int, int]]) -> Text:
    first, last = spans[0][0], spans[-1][1]
    return Text(string[first:last], tuple((start - first, end - first) for start, end in spans))
