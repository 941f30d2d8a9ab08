"""The tokenizer of static vectors: a word is a bag of table rows, its own and those of its character n-grams."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import torch

from polyseme.errors import BadFile, Mistake
from polyseme.files import write_file
from polyseme.text import word_lists
from polyseme.text.batches import offsets_of
from polyseme.types import Batch, Packed, Text

END_OF_LINE = "</s>"  # fastText's own word; it alone has no n-grams


@dataclass(frozen=True)
class Subwords:
    """fastText's character n-grams: those of `<word>`, hashed into a fixed number of rows behind the words' own."""

    shortest: int = 3
    longest: int = 6
    n_buckets: int = 2_000_000

    def __post_init__(self) -> None:
        if not 0 < self.shortest <= self.longest or self.n_buckets < 1:
            raise Mistake(f"n-grams of {self.shortest} to {self.longest} letters in {self.n_buckets} rows cannot be.")

    def rows(self, word: str) -> list[int]:
        """The bucket of each n-gram of a word."""
        return [fnv1a(gram) % self.n_buckets for gram in self.grams(word)]

    def grams(self, word: str) -> Iterator[bytes]:
        """The n-grams, as UTF-8.

        >>> [gram.decode() for gram in Subwords(3, 4).grams("cat")]
        ['<ca', '<cat', 'cat', 'cat>', 'at>']
        """
        letters = [letter.encode(errors="surrogatepass") for letter in f"<{word}>"]
        for start in range(len(letters)):
            for end in range(start + self.shortest, min(start + self.longest, len(letters)) + 1):
                if end - start > 1 or 0 < start < len(letters) - 1:  # a bracket alone says nothing
                    yield b"".join(letters[start:end])


@dataclass(frozen=True)
class BagTokenizer:
    """Every word is a piece; its spelling is the bag of rows whose mean is its vector, empty for an unknown word."""

    words: tuple[str, ...]  # in the order of the rows
    subwords: Subwords | None = None
    fold_case: bool = False  # whether an unknown word is looked up in small letters

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return len(self.words) + (self.subwords.n_buckets if self.subwords else 0)

    @cached_property
    def row_of(self) -> dict[str, int]:
        rows = {word: row for row, word in enumerate(self.words)}
        if len(rows) < len(self.words):
            raise Mistake(f"{len(self.words) - len(rows)} words stand in the vocabulary twice.")
        return rows

    def encode(self, texts: Sequence[Text]) -> Batch:
        number: dict[str, int] = {}  # of each distinct word
        ids = [number.setdefault(word, len(number)) for text in texts for word in text.words]
        bags = [self.bag(word) for word in number]
        n_words = torch.tensor([len(text.spans) for text in texts], dtype=torch.long)
        offsets = offsets_of(n_words)
        return Batch(
            ids=torch.tensor(ids, dtype=torch.long),
            offsets=offsets,
            words=torch.arange(len(ids)) - offsets[:-1].repeat_interleave(n_words),
            n_words=n_words,
            texts=torch.arange(len(texts)),
            spellings=Packed(
                torch.tensor([row for bag in bags for row in bag], dtype=torch.long),
                offsets_of(torch.tensor([len(bag) for bag in bags], dtype=torch.long)),
            ),
        )

    def bag(self, word: str) -> list[int]:
        """The rows whose mean is the word's vector."""
        word = next((form for form in self._forms(word) if form in self.row_of), word)
        rows = [self.row_of[word]] if word in self.row_of else []
        if self.subwords and word != END_OF_LINE:
            if not rows and self.fold_case:
                word = word.lower()
            rows += [len(self.words) + bucket for bucket in self.subwords.rows(word)]
        return rows

    def knows(self, word: str) -> bool:
        """Whether the word, or a form that stands for it, has a row of its own."""
        return any(form in self.row_of for form in self._forms(word))

    def _forms(self, word: str) -> Iterator[str]:
        yield word
        if "’" in word:
            yield word.replace("’", "'")
        if self.fold_case:
            yield word.lower()
            yield word.lower().replace("’", "'")

    def pieces(self, batch: Batch) -> list[str]:
        raise Mistake("Static vectors have no pieces below the word. Use level='word'.")

    def write(self, folder: Path) -> None:
        word_lists.write(folder / "vocab.txt", self.words)
        settings = {"fold_case": self.fold_case, "subwords": asdict(self.subwords) if self.subwords else None}
        write_file(folder / "tokenizer_config.json", json.dumps(settings, indent=1))

    @classmethod
    def read(cls, folder: Path) -> BagTokenizer:
        path = folder / "tokenizer_config.json"
        try:
            settings = json.loads(path.read_bytes())
            subwords = Subwords(**settings["subwords"]) if settings["subwords"] else None
            fold_case = bool(settings["fold_case"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            raise BadFile(f"{path} is missing or damaged. Copy it again, beside vocab.txt.") from None
        return cls(tuple(word_lists.read_distinct(folder / "vocab.txt")), subwords, fold_case)


def fnv1a(gram: bytes) -> int:
    """FNV-1a, 32 bit, with fastText's trap: each byte is sign-extended before it is mixed in.

    >>> fnv1a(b"<ca"), fnv1a("é".encode())
    (1066916747, 1023043777)
    """
    value = 2166136261
    for byte in gram:
        value = ((value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619) & 0xFFFFFFFF
    return value


def looks_folded(words: Sequence[str]) -> bool:
    """Whether a vocabulary holds no capital letters, as GloVe's: then words are looked up in small ones."""
    return all(word == word.lower() for word in words)
