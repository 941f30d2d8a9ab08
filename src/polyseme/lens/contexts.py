"""The words of a corpus, in their sentences, that are nearest to a word in its sentence."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.lens.in_context import Tell, directions, layer_number, silent, stream, words_of
from polyseme.lens.occurrences import Occurrences
from polyseme.text.corpus import find, passages
from polyseme.text.mentions import Mention, sentences
from polyseme.text.order import seed_for
from polyseme.types import Text

_WINDOW = 512  # sentences whose words are compared together


@dataclass(frozen=True)
class Near:
    """A word of the corpus and its cosine."""

    cosine: float
    mention: Mention


def nearest_words(
    pretrained: Pretrained, asked: Mention, texts: Iterable[Text], layer: int = -1, n: int = 10, tell: Tell = silent
) -> list[Near]:
    """The n nearest words of all texts, the best of each text, nearest first; a text that comes again is passed over.

    Exact, however many words there are: they are compared as they are read and only the best are kept, so there is
    nothing to search through afterwards, and an index would take longer to build than the one pass that it saves.
    """
    layer = layer_number(pretrained, layer)
    wanted = Occurrences.of(pretrained, [asked]).layers[layer][0]
    if not wanted.any():
        raise Mistake(f"{asked.word!r} has no vector here.")
    best: list[tuple[float, int, Near]] = []  # a heap of the n highest
    n_read, n_texts = 0, len(texts) if isinstance(texts, Sized) else 0
    known = {hash(asked.text.string)}  # the text that is asked about is no answer
    for window in _windows(texts):
        for place, near in enumerate(_best_of_texts(pretrained, _new(window, known), wanted, layer), n_read):
            heapq.heappush(best, (near.cosine, -place, near))
            if len(best) > n:
                heapq.heappop(best)
        n_read += len(window)
        tell(n_read, max(n_read, n_texts))
    return [near for *_, near in sorted(best, key=lambda one: one[:2], reverse=True)]


def sampled(paths: Sequence[str | Path], n: int, seed: int = 0, field: str = "text") -> list[Text]:
    """The sentences of n paragraphs of a corpus, chosen by the seed in one pass; of all, where there are no more."""
    strings = (passage.string for path in find(paths) for passage in passages(path, field=field))
    drawn = heapq.nsmallest(n, ((seed_for(seed, place), place, string) for place, string in enumerate(strings)))
    found = [text for _, string in sorted(one[1:] for one in drawn) for text in sentences(string)]
    if not found:
        raise Mistake(f"There is no sentence in {', '.join(map(str, paths))}.")
    return found


def _windows(texts: Iterable[Text]) -> Iterator[list[Text]]:
    waiting = iter(texts)
    while window := list(islice(waiting, _WINDOW)):
        yield window


def _new(window: list[Text], known: set[int]) -> list[Text]:
    """Those with words that were not there before; they are known from now on."""
    found = []
    for text in window:
        if text.spans and (key := hash(text.string)) not in known:
            known.add(key)
            found.append(text)
    return found


def _best_of_texts(pretrained: Pretrained, window: list[Text], wanted: np.ndarray, layer: int) -> Iterator[Near]:
    """The word of each text that is nearest."""
    spans = words_of(window)
    cosines = np.zeros(len(spans), np.float32)
    for some in stream(pretrained, window, spans):
        cosines[some.numbers] = directions(some.layers[layer]) @ wanted
    first = 0
    for text in window:
        place = int(np.argmax(cosines[first : first + len(text.spans)]))
        yield Near(float(cosines[first + place]), Mention(text, place))
        first += len(text.spans)
