"""Words spelled as UTF-8 bytes, for encoders that read characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyseme.errors import BadFile, Mistake
from polyseme.files import write_file
from polyseme.text import word_lists
from polyseme.types import Batch, Packed, Text

BEGIN_TEXT, END_TEXT, BEGIN_WORD, END_WORD, PAD = range(256, 261)  # behind the 256 bytes
N_CHARACTERS = 261
BEGIN, END, UNKNOWN = MARKERS = ("<S>", "</S>", "<UNK>")  # how they are shown, and called in a vocabulary

_SETTINGS, _VOCABULARY = "characters.json", "vocab.txt"


@dataclass(frozen=True)
class CharacterTokenizer:
    """One piece a word, known by its spelling; each text has a begin and an end piece that belong to no word."""

    max_characters: int = 50  # of a word, its begin and end marks included; further bytes are cut off
    vocabulary: tuple[str, ...] | None = None  # what the language model predicts, most frequent first

    def encode(self, texts: Sequence[Text]) -> Batch:
        """All texts, in order, as one Batch, whose ids number its distinct words in the order they come.

        >>> from polyseme.text.words import to_text
        >>> CharacterTokenizer().encode([to_text("so so")]).ids.tolist()
        [0, 2, 2, 1]
        """
        words = [word for text in texts for word in text.words]
        numbers = dict(zip(dict.fromkeys(words), count(2)))  # 0 and 1 are the markers
        n_words = np.fromiter((len(text.spans) for text in texts), np.int64, len(texts))
        offsets = _offsets(n_words + 2)
        inside = _inside(offsets)
        ids = np.zeros(offsets[-1], np.int64)
        ids[offsets[1:] - 1] = 1
        ids[inside] = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
        place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], n_words + 2) - 1
        return Batch(
            ids=torch.from_numpy(ids),
            offsets=torch.from_numpy(offsets),
            words=torch.from_numpy(np.where(inside, place, -1)),
            n_words=torch.from_numpy(n_words),
            texts=torch.arange(len(texts)),
            spellings=spell(numbers, self.max_characters),
        )

    def pieces(self, batch: Batch) -> list[str]:
        """The word at each position, cut off where the encoder cuts it off."""
        assert batch.spellings is not None
        values, offsets = batch.spellings.values.numpy(), batch.spellings.offsets.tolist()
        shown = [_shown(values[start:end]) for start, end in pairwise(offsets)]
        return [shown[number] for number in batch.ids.tolist()]

    def numbers(self, pieces: Sequence[str]) -> torch.Tensor:
        """Which word of the vocabulary each piece is."""
        if self.vocabulary is None:
            raise Mistake("This model came without its vocabulary, so it has no numbers for words.")
        number = {word: place for place, word in enumerate(self.vocabulary)}
        return torch.tensor([number.get(piece, number[UNKNOWN]) for piece in pieces], dtype=torch.long)

    def write(self, folder: Path) -> None:
        """Put its settings into a folder, and its vocabulary where it has one."""
        write_file(folder / _SETTINGS, _Settings(max_characters=self.max_characters).model_dump_json(indent=1))
        if self.vocabulary is not None:
            word_lists.write(folder / _VOCABULARY, self.vocabulary)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The tokenizer that `write` put into a folder."""
        try:
            settings = _Settings.model_validate_json((folder / _SETTINGS).read_bytes())
        except FileNotFoundError:
            raise BadFile(
                f"No {_SETTINGS} in {folder}: the tokenizer's settings. Copy it beside the weights."
            ) from None
        except ValidationError as error:
            raise BadFile(f"{folder / _SETTINGS} is damaged: {error.errors()[0]['msg']}. Copy it anew.") from None
        path = folder / _VOCABULARY
        vocabulary = tuple(word_lists.read_distinct(path)) if path.is_file() else None
        return cls(settings.max_characters, vocabulary)


def spell(words: Iterable[str], max_characters: int) -> Packed:
    """The spellings of the begin marker, the end marker and these words; no pads follow a word.

    >>> spell(["né"], 50).values.tolist()
    [258, 256, 259, 258, 257, 259, 258, 110, 195, 169, 259]
    """
    # a lone half of a surrogate pair has no UTF-8, so it is left out
    spelled = [word.encode("utf-8", "ignore")[: max_characters - 2] for word in words]
    lengths = np.fromiter(map(len, spelled), np.int64, len(spelled))
    offsets = _offsets(np.concatenate([[3, 3], lengths + 2]))
    values = np.full(offsets[-1], END_WORD, np.int16)
    values[offsets[:-1]] = BEGIN_WORD
    values[[1, 4]] = BEGIN_TEXT, END_TEXT
    inside = _inside(offsets)
    inside[[1, 4]] = False
    values[inside] = np.frombuffer(b"".join(spelled), np.uint8)
    return Packed(torch.from_numpy(values), torch.from_numpy(offsets))


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    max_characters: int = Field(ge=3, le=10_000)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], lengths.cumsum()])


def _inside(offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which positions are neither the first nor the last of their row."""
    inside = np.ones(offsets[-1], np.bool_)
    inside[offsets[:-1]] = False
    inside[offsets[1:] - 1] = False
    return inside


def _shown(spelling: NDArray[np.int16]) -> str:
    inner = spelling[1:-1]
    if len(inner) == 1 and inner[0] in (BEGIN_TEXT, END_TEXT):
        return BEGIN if inner[0] == BEGIN_TEXT else END
    return inner.astype(np.uint8).tobytes().decode("utf-8", "replace")
