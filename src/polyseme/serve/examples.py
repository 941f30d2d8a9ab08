"""Tokenised inputs of many requests, put together to one Batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from polyseme.adapt.inputs import Inputs
from polyseme.encoders import Pretrained
from polyseme.text.batches import offsets_of
from polyseme.types import Batch, Packed, Text


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One of a request's inputs as pieces, and what else its work must know of it."""

    inputs: Inputs
    number: int
    given: Any = None


def examples(inputs: Inputs, given: Sequence[Any] | None = None) -> list[Example]:
    return [Example(inputs, number, given[number] if given else None) for number in range(inputs.n_examples)]


def encoded(pretrained: Pretrained, texts: Sequence[Text]) -> Inputs:
    """Texts as pieces, long ones in several windows."""
    return Inputs(pretrained.tokenizer.encode(texts), len(texts), 1)


def joined(some: Sequence[Example]) -> Inputs:
    """All of them as one, in their order."""
    parts: list[Batch] = []
    last: Inputs | None = None
    numbers: list[int] = []
    for example in some:
        if example.inputs is not last or example.number <= numbers[-1]:  # numbers rise in what is taken at once
            parts += _taken(last, numbers)
            last, numbers = example.inputs, []
        numbers.append(example.number)
    parts += _taken(last, numbers)
    n_each = some[0].inputs.n_each
    return Inputs(join(parts, n_each), len(some), n_each)


def join(parts: Sequence[Batch], n_each: int = 1) -> Batch:
    """One Batch after another; `n_each` texts are an example, whether or not the last of them has a sequence."""
    if len(parts) == 1:
        return parts[0]
    spellings = _spellings([part.spellings for part in parts])
    firsts = offsets_of(torch.tensor([_n_texts(part, n_each) for part in parts]))
    return Batch(
        ids=torch.cat(list(_ids(parts))),
        offsets=offsets_of(torch.cat([part.lengths for part in parts])),
        words=torch.cat([part.words for part in parts]),
        n_words=torch.cat([part.n_words for part in parts]),
        texts=torch.cat([part.texts + first for part, first in zip(parts, firsts, strict=False)]),
        segments=_whole([part.segments for part in parts], parts, 0),
        spellings=spellings,
        owned=_whole([part.owned for part in parts], parts, True),
    )


def _taken(inputs: Inputs | None, numbers: list[int]) -> list[Batch]:
    if inputs is None:
        return []
    if len(numbers) == inputs.n_examples:
        return [inputs.batch]
    return [inputs.take(torch.tensor(numbers))]


def _n_texts(part: Batch, n_each: int) -> int:
    """Every text has a sequence, an empty one too."""
    n_texts = int(part.texts[-1]) + 1 if part.n_sequences else 0
    assert n_texts % n_each == 0
    return n_texts


def _ids(parts: Iterable[Batch]) -> Iterable[Tensor]:
    """Where ids number the spellings of their Batch, those of the later ones come behind."""
    n_before = 0
    for part in parts:
        yield part.ids + n_before if n_before else part.ids
        n_before += len(part.spellings.offsets) - 1 if part.spellings else 0


def _spellings(parts: list[Packed | None]) -> Packed | None:
    found = [part for part in parts if part is not None]
    if not found:
        return None
    values = torch.cat([part.values for part in found])
    return Packed(values, offsets_of(torch.cat([part.offsets.diff() for part in found])))


def _whole(columns: list[Tensor | None], parts: Sequence[Batch], otherwise: bool | int) -> Tensor | None:
    found = [column for column in columns if column is not None]
    if not found:
        return None
    filled = [
        torch.full((len(part.ids),), otherwise, dtype=found[0].dtype) if column is None else column
        for column, part in zip(columns, parts, strict=True)
    ]
    return torch.cat(filled)
