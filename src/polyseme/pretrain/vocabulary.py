"""BERT's vocabulary: learned from a run's text, or an older one with the text's own words added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from polyseme.pretrain.job import Job
from polyseme.pretrain.recipes import BertRecipe
from polyseme.text.corpus import find, passages
from polyseme.text.samples import even_sample
from polyseme.text.wordpiece import WordPiece
from polyseme.train.report import Report

_SAMPLE = 30_000_000  # characters that a vocabulary is learned from: more of them change few pieces
_TELL_EVERY = 1000  # texts
_LEAST_CHARACTERS = 1000
_LEAST_COUNT = 20  # of a word in the sample that is worth a row of its own


def learned(recipe: BertRecipe, job: Job) -> WordPiece:
    """A new vocabulary; its window is the longest sequence that is learned from."""
    texts = _Told(_sample(job), job, n_passes=2)  # for characters, and for words
    n_characters = max(_LEAST_CHARACTERS, recipe.n_pieces // 3)  # a letter takes two pieces, a Chinese character one
    return WordPiece.train(texts, recipe.n_pieces, recipe.lower_case, n_characters=n_characters, window=recipe.longest)


def with_domain_words(tokenizer: WordPiece, n_words: int, job: Job) -> WordPiece:
    """The most frequent words of the text that the tokenizer cuts into pieces, as pieces of their own."""
    counts: Counter[str] = Counter()
    for string in _Told(_sample(job), job, n_passes=1):
        counts.update(tokenizer.words_in(string))
    frequent = [word for word, count in _by_count(counts) if count >= _LEAST_COUNT and any(map(str.isalpha, word))]
    known = tokenizer.backend.get_vocab()
    new: list[str] = []
    for word in frequent:
        if len(new) == n_words:
            break
        if word not in known and len(pieces_of(tokenizer, word)) > 1:
            new.append(word)
    return tokenizer.with_words(new)


def pieces_of(tokenizer: WordPiece, word: str) -> list[int]:
    """The pieces of a word that looks as it does once normalised."""
    pieces: list[int] = [piece.id for piece in tokenizer.backend.model.tokenize(word)]
    return pieces


def _by_count(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _sample(job: Job) -> list[str]:
    """An even sample of the corpus's paragraphs."""
    files = find(job.corpus)
    n_total, n_before = sum(file.stat().st_size for file in files), 0
    field, errors = job.reading["field"], job.reading["errors"]

    def on_read(n: int) -> None:
        job.tell(Report("Looking for words", n_before + n, n_total))

    def strings() -> Iterator[str]:
        nonlocal n_before
        for file in files:
            yield from (passage.string for passage in passages(file, field=field, errors=errors, on_read=on_read))
            n_before += file.stat().st_size

    return even_sample(strings(), _SAMPLE)


class _Told:
    """Texts that are gone through a few times while somebody watches."""

    def __init__(self, texts: list[str], job: Job, n_passes: int) -> None:
        self.texts, self.job, self.n_told, self.n_total = texts, job, 0, n_passes * len(texts)

    def __iter__(self) -> Iterator[str]:
        for text in self.texts:
            self.n_told += 1
            if self.n_told % _TELL_EVERY == 0:
                self.job.tell(Report("Learning the vocabulary", min(self.n_told, self.n_total), self.n_total))
            yield text
