"""The tokenizer of ULMFiT: words to the ids of their marked pieces."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from polyseme.errors import BadFile, Mistake, listed
from polyseme.files import write_file
from polyseme.text import word_lists
from polyseme.text.batches import offsets_of, take_rows
from polyseme.text.marks import BOS, FAKE, MAJ, REP, UNK, UP, marked_pieces
from polyseme.types import Batch, Packed, Text, mirrored

VOCABULARY, SETTINGS = "vocab.txt", "tokenizer_config.json"

_NEEDED = (UNK, BOS, REP, UP, MAJ)


class MarkedWords:
    """A vocabulary of lower-case words and marks, in the order of their ids.

    With `reverse` a sequence is read from its end, for a model that goes backwards.
    """

    def __init__(self, words: Sequence[str], reverse: bool = False) -> None:
        self.words, self.reverse = tuple(words), reverse
        self.ids = _numbered(self.words)

    def encode(self, texts: Sequence[Text]) -> Batch:
        """A sequence a text: xxbos, which is no word's, then the pieces of each word."""
        distinct: dict[str, int] = {}
        rows: list[int] = []  # of the table, one a word; row 0 is xxbos
        for text in texts:
            rows.append(0)
            rows += [distinct.setdefault(word, len(distinct) + 1) for word in text.words]
        n_words = torch.tensor([len(text.spans) for text in texts], dtype=torch.long)
        batch = _batch(self._table(distinct), torch.tensor(rows, dtype=torch.long), n_words)
        return turned(batch) if self.reverse else batch

    def pieces(self, batch: Batch) -> list[str]:
        return [self.words[piece] for piece in batch.ids.tolist()]

    def write(self, folder: Path) -> None:
        """vocab.txt, a word a line; the words that a line cannot hold go into the settings."""
        odd = {number: word for number, word in enumerate(self.words) if "\n" in word or "\r" in word}
        lines = ["" if number in odd else word for number, word in enumerate(self.words)]
        write_file(folder / VOCABULARY, "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass"))
        write_file(folder / SETTINGS, _Settings(reverse=self.reverse, odd_words=odd).model_dump_json(indent=1))

    @classmethod
    def read(cls, folder: Path) -> Self:
        words, settings = word_lists.read(folder / VOCABULARY), _read_settings(folder / SETTINGS)
        for number, word in settings.odd_words.items():
            if not 0 <= number < len(words):
                raise BadFile(f"{folder / SETTINGS} has a word {number}; {VOCABULARY} has only {len(words)} lines.")
            words[number] = word
        return cls(words, settings.reverse)

    def _table(self, words: Iterable[str]) -> Packed:
        """The id of xxbos, then those of each word's pieces."""
        unknown = self.ids[UNK]
        found = [[self.ids[BOS]], *([self.ids.get(p, unknown) for p in marked_pieces(word)] for word in words)]
        values = torch.tensor([piece for pieces in found for piece in pieces], dtype=torch.long)
        return Packed(values, offsets_of(torch.tensor([len(pieces) for pieces in found])))


def turned(batch: Batch) -> Batch:
    """The same sequences, each read from its end; every piece stays with its word."""
    order = mirrored(batch.offsets)
    return replace(
        batch,
        ids=batch.ids[order],
        words=batch.words[order],
        segments=None if batch.segments is None else batch.segments[order],
    )


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True)

    reverse: bool = False
    odd_words: dict[int, str] = {}  # those with a line break in them, by id


def _read_settings(path: Path) -> _Settings:
    if not path.is_file():
        return _Settings()
    try:
        return _Settings.model_validate_json(path.read_bytes())
    except ValidationError as problem:
        raise BadFile(f"{path} is not what this tokenizer writes: {problem.errors()[0]['msg']}.") from None


def _numbered(words: tuple[str, ...]) -> dict[str, int]:
    """The id of each word; of those that only fill the vocabulary up, none."""
    ids: dict[str, int] = {}
    for number, word in enumerate(words):
        if word != FAKE and ids.setdefault(word, number) != number:
            raise Mistake(f"The vocabulary has {word!r} twice, as {ids[word]} and {number}. Each word has one id.")
    if absent := [word for word in _NEEDED if word not in ids]:
        raise Mistake(
            f"The vocabulary of {len(words)} words lacks {listed(absent)}, which ULMFiT's rules write. "
            "Use the vocabulary the model was trained with, from fastai 1.0 or later."
        )
    return ids


def _batch(table: Packed, rows: Tensor, n_words: Tensor) -> Batch:
    ids = take_rows(table, rows)
    n_rows = n_words + 1  # a text's words, and xxbos before them
    first = offsets_of(n_rows)
    words = torch.arange(len(rows)) - first[:-1].repeat_interleave(n_rows) - 1  # -1 for xxbos
    return Batch(
        ids=ids.values,
        offsets=ids.offsets[first],
        words=words.repeat_interleave(ids.offsets.diff()),
        n_words=n_words,
        texts=torch.arange(len(n_words)),
    )
