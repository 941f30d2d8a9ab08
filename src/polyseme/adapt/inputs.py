"""Examples as pieces: tokenised once, then taken a few at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.text.batches import groups, offsets_of, ranges, take
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text
from polyseme.types import Batch, Text

Pairs = Literal["joined", "apart"]
String = str | Sequence[str]  # a text, or its words where it is split already


@dataclass(frozen=True)
class Inputs:
    """All examples, each of one text or of two that are read apart."""

    batch: Batch
    n_examples: int
    n_each: int  # texts of an example that the encoder reads apart

    @cached_property
    def first(self) -> Tensor:
        """(examples + 1,) the first sequence of each example."""
        return torch.searchsorted(self.batch.texts, torch.arange(self.n_examples + 1) * self.n_each)

    @cached_property
    def lengths(self) -> Tensor:
        """(examples,) positions of each example."""
        return self.batch.offsets[self.first].diff()

    @cached_property
    def word_offsets(self) -> Tensor:
        """(texts + 1,) where each text's words begin among those of all texts."""
        words = offsets_of(self.batch.n_words)
        return words[torch.searchsorted(self.batch.texts, torch.arange(self.n_examples * self.n_each + 1))]

    def take(self, examples: Tensor) -> Batch:
        """The Batch of these examples; its texts are numbered from 0."""
        starts, counts = self.first[examples], self.first.diff()[examples]
        batch = take(self.batch, ranges(starts, counts))
        shift = (examples - torch.arange(len(examples))) * self.n_each
        return replace(batch, texts=batch.texts - shift.repeat_interleave(counts))

    def groups(self, budget: int, times: int) -> Iterator[Tensor]:
        """All examples in groups of like length and at most so many positions, each group's numbers rising; of the
        groups there are so many times any number."""
        for group in groups(self.lengths, budget, times=times):
            yield group.sort().values

    def digest(self) -> str:
        """A hash of everything the encoder reads."""
        digest, spellings = hashlib.sha256(str(self.n_each).encode()), self.batch.spellings
        parts = [self.batch.ids, self.batch.offsets, self.batch.words, self.batch.n_words, self.batch.texts]
        parts += [self.batch.segments] if self.batch.segments is not None else []
        parts += [spellings.values, spellings.offsets] if spellings is not None else []
        for part in parts:
            digest.update(f"{part.dtype}{tuple(part.shape)}".encode())
            digest.update(part.contiguous().flatten().view(torch.uint8).numpy().data)
        return digest.hexdigest()


def texts_in(pretrained: Pretrained, texts: Sequence[String], most_windows: int | None = None) -> Inputs:
    """One text an example; of a text longer than the encoder's window the first few windows are kept."""
    batch = pretrained.tokenizer.encode([to_text(text) for text in texts])
    return Inputs(_cut(batch, most_windows), len(texts), 1)


def pairs_in(
    pretrained: Pretrained, pairs: Sequence[tuple[String, String]], how: Pairs, most_windows: int | None = None
) -> Inputs:
    """Two texts an example: joined in one sequence, as BERT reads them, or apart."""
    firsts, seconds = ([to_text(pair[side]) for pair in pairs] for side in (0, 1))
    if how == "joined":
        return Inputs(_joiner(pretrained).encode_pairs(firsts, seconds), len(pairs), 1)
    both: list[Text] = [text for pair in zip(firsts, seconds, strict=True) for text in pair]
    return Inputs(_cut(pretrained.tokenizer.encode(both), most_windows), len(pairs), 2)


def questions_in(pretrained: Pretrained, pairs: Sequence[tuple[Text, Text]], how: Pairs) -> Inputs:
    """A question and its context an example, none of whose words is lost."""
    questions, contexts = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if how == "joined":
        return Inputs(_joiner(pretrained).encode_pairs(questions, contexts, long="windows"), len(pairs), 1)
    both = [text for pair in pairs for text in pair]
    return Inputs(pretrained.tokenizer.encode(both), len(pairs), 2)


def can_join(pretrained: Pretrained) -> bool:
    """Whether the encoder reads two texts as one sequence."""
    return isinstance(pretrained.tokenizer, WordPiece) and getattr(pretrained.encoder.config, "type_vocab_size", 1) > 1


def _joiner(pretrained: Pretrained) -> WordPiece:
    if not can_join(pretrained) or not isinstance(pretrained.tokenizer, WordPiece):
        raise Mistake(
            f"pairs='joined' is for BERT with two segments; this is {pretrained.encoder.family}. Use 'apart'."
        )
    return pretrained.tokenizer


def _cut(batch: Batch, most_windows: int | None) -> Batch:
    if most_windows is None or batch.n_sequences == 0:
        return batch
    first = torch.searchsorted(batch.texts, batch.texts)  # of each sequence's text
    kept = (torch.arange(batch.n_sequences) - first < most_windows).nonzero().flatten()
    return batch if len(kept) == batch.n_sequences else take(batch, kept)
