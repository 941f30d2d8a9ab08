"""BERT's tokenizer: words in pieces, greedily the longest first, each of which knows the word it starts in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import tokenizers
import torch
from torch import Tensor

from polyseme.errors import Mistake
from polyseme.text import wordpiece_files, wordpiece_training
from polyseme.text.sequences import Cut, Long, join, owned, paired, single
from polyseme.text.surrogates import encodable
from polyseme.text.windows import Integers
from polyseme.types import Batch, Text


@dataclass(frozen=True)
class WordPiece:
    """WordPiece over the raw string, as transformers does it: [CLS] pieces [SEP], or [CLS] pieces [SEP] pieces [SEP].

    A text with more pieces than `window` holds becomes several sequences, which share `overlap` pieces with their
    neighbours: every word has about half of that as context on each side, or more.
    """

    backend: tokenizers.Tokenizer = field(repr=False)
    settings: dict[str, Any] = field(default_factory=dict)  # what tokenizer_config.json says
    window: int = 512  # positions of a sequence, special ones included
    overlap: int = 128

    def __post_init__(self) -> None:
        if self.window < 5:
            raise Mistake(f"window={self.window} leaves no room for pieces beside [CLS] and [SEP]. Use 5 or more.")

    @classmethod
    def read(cls, folder: Path) -> Self:
        backend, settings = wordpiece_files.read(folder)
        return cls(backend, settings, wordpiece_files.window_of(settings))

    @classmethod
    def of_vocabulary(cls, path: Path, lower_case: bool, window: int = 512) -> Self:
        """BERT's tokenizer over a vocab.txt alone."""
        backend, settings = wordpiece_files.from_lines(path, {"do_lower_case": lower_case})
        return cls(backend, settings, window)

    def write(self, folder: Path) -> None:
        wordpiece_files.write(self.backend, self.settings, self.window, folder)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        n_pieces: int = 30_522,
        lower_case: bool = True,
        min_count: int = 2,
        n_characters: int = 1000,
        window: int = 512,
    ) -> Self:
        """A vocabulary learned from texts; the same texts give the same one.

        It may be smaller than `n_pieces` where the texts are few: a pair of pieces seen less than `min_count` times
        is not joined. Only the `n_characters` most frequent characters are in it.
        """
        vocab = wordpiece_training.train(texts, n_pieces, lower_case, min_count, n_characters)
        settings = {"do_lower_case": lower_case}
        return cls(wordpiece_files.from_vocab(vocab, settings), settings, window)

    def with_window(self, window: int) -> Self:
        """The same for sequences of at most this many positions."""
        return replace(self, window=window)

    def with_words(self, words: Sequence[str]) -> Self:
        """The same with more pieces, which are whole words as they look once normalised; their ids come behind all.

        Greedy as WordPiece is, a new word is then also the beginning of longer words that begin with it.
        """
        numbers = {word: self.n_pieces + place for place, word in enumerate(words)}
        return replace(self, backend=wordpiece_files.with_pieces(self.backend, numbers))

    def words_in(self, string: str) -> list[str]:
        """The words whose pieces are looked for, as they look once normalised: shorter ones than those people see."""
        normalised = self.backend.normalizer.normalize_str(encodable(string)) if self.backend.normalizer else string
        return [word for word, _ in self.backend.pre_tokenizer.pre_tokenize_str(normalised)]

    @property
    def n_pieces(self) -> int:
        """How many rows a table of all pieces has."""
        return 1 + max(self.backend.get_vocab().values(), default=-1)

    def id_of(self, special: Literal["pad", "unk", "cls", "sep", "mask"]) -> int:
        """The id of a special piece."""
        piece = wordpiece_files.special_piece(self.settings, special)
        found: int | None = self.backend.token_to_id(piece)
        if found is None:
            raise Mistake(f"This vocabulary of {self.n_pieces} pieces has no {piece}, which is needed here.")
        return found

    def pieces(self, batch: Batch) -> list[str]:
        return [self.piece(number) for number in batch.ids.tolist()]

    def piece(self, number: int) -> str:
        """The piece with this id; an encoder may have more rows than there are pieces."""
        return self.backend.id_to_token(number) or f"[{number}]"

    def continuing(self) -> Tensor:
        """(pieces,) whether each goes on with the word of the piece before it."""
        prefix = self.backend.model.continuing_subword_prefix
        return torch.tensor([self.piece(number).startswith(prefix) for number in range(self.n_pieces)])

    def encode(self, texts: Sequence[Text]) -> Batch:
        cut = self.cut(texts)
        parts = single(cut, self.window - 2, self.overlap)
        return replace(join(cut, parts, 1, self.id_of("cls"), self.id_of("sep")), owned=owned(cut, parts))

    def encode_pairs(self, firsts: Sequence[Text], seconds: Sequence[Text], long: Long = "cut") -> Batch:
        """Pairs of texts, one sequence each; its words are those of the first text and then those of the second.

        A pair that is too long has the end of its longer text cut off. With long="windows" nothing of the second text
        is lost: windows of it stand beside the first text, whose words the first of these sequences owns and which
        takes at most half of the room.
        """
        if len(firsts) != len(seconds):
            raise Mistake(f"Pairs need two lists of one length; found {len(firsts)} and {len(seconds)} texts.")
        if long not in ("cut", "windows"):
            raise Mistake(f"long={long!r} is not known. Use 'cut' or 'windows'.")
        cut = self.cut([*firsts, *seconds])
        parts = paired(cut, self.window - 3, self.overlap, long)
        return join(cut, parts, 2, self.id_of("cls"), self.id_of("sep"))

    def cut(self, texts: Sequence[Text]) -> Cut:
        """The pieces of texts without special ones, each of which knows its word."""
        n_words = np.fromiter((len(text.spans) for text in texts), np.int64, len(texts))
        has_words = bool(n_words.any())
        # the fast one does not tell where pieces stand
        encode = self.backend.encode_batch if has_words else self.backend.encode_batch_fast
        encodings = encode([encodable(text.string) for text in texts], add_special_tokens=False)
        lengths = np.fromiter(map(len, encodings), np.int64, len(encodings))
        total = int(lengths.sum())
        ids = np.fromiter(chain.from_iterable(e.ids for e in encodings), np.int64, total)
        if not has_words:
            return Cut(ids, np.full(total, -1), lengths, n_words)
        starts = _flat((e.offsets for e in encodings), total)[:, 0]
        spans = _flat((text.spans for text in texts), int(n_words.sum()))
        # one axis for the characters of all texts, so that one search finds the words of all pieces
        sizes = np.fromiter((len(text.string) + 1 for text in texts), np.int64, len(texts))
        bases = sizes.cumsum() - sizes
        spans += bases.repeat(n_words)[:, None]
        # normalisation can put accents in another order: a piece must not start before the one before it
        starts = np.maximum.accumulate(starts + bases.repeat(lengths))
        words = np.searchsorted(spans[:, 0], starts, side="right") - 1
        inside = (words >= 0) & (starts < np.append(spans[:, 1], 0)[words])
        words = np.where(inside, words - (n_words.cumsum() - n_words).repeat(lengths), -1)
        return Cut(ids, words, lengths, n_words)


def _flat(pairs: Iterable[Sequence[tuple[int, int]]], n: int) -> Integers:
    """Lists of pairs as one (n, 2) array."""
    return np.fromiter(chain.from_iterable(chain.from_iterable(pairs)), np.int64, 2 * n).reshape(n, 2)
