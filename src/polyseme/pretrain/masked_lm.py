"""What learns in BERT's pretraining, and the tasks it is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_heads import BertHeads
from polyseme.pretrain.examples import Examples
from polyseme.pretrain.masking import Masked
from polyseme.pretrain.pairs import Ids
from polyseme.types import Batch


@dataclass(frozen=True)
class Task:
    """Some sequences with words to fill in."""

    batch: Batch
    places: Tensor  # (predicted,) the positions that are asked for
    targets: Tensor  # (predicted,) the pieces that stood there
    strangers: Tensor  # (sequences,) 0 where the second part follows the first, 1 where it does not

    @classmethod
    def of(cls, examples: Examples, masked: Masked, first: int, last: int, starts: Ids | None = None) -> Task:
        """Of the sequences from first to last, which begin at these places."""
        start, end = examples.offsets[first], examples.offsets[last]
        asked = slice(*np.searchsorted(masked.places, [start, end]))
        segments = examples.segments
        batch = Batch(
            ids=torch.from_numpy(masked.ids[start:end]),
            offsets=torch.from_numpy(examples.offsets[first : last + 1] - start),
            words=torch.full((int(end - start),), -1),
            n_words=torch.zeros(last - first, dtype=torch.long),
            texts=torch.arange(last - first),
            segments=None if segments is None else torch.from_numpy(segments[start:end]),
            starts=None if starts is None else torch.from_numpy(starts[first:last]),
        )
        strangers = torch.from_numpy((~examples.follows[first:last]).astype(np.int64))
        places, targets = masked.places[asked] - start, masked.targets[asked]
        return cls(batch, torch.from_numpy(places), torch.from_numpy(targets), strangers)


class MaskedLm(nn.Module):
    """The encoder and both heads on top of it."""

    def __init__(self, encoder: BertEncoder, heads: BertHeads) -> None:
        super().__init__()
        self.encoder, self.heads = encoder, heads

    def forward(self, task: Task) -> tuple[Tensor, Tensor | None]:
        """(predicted, width): vectors where a word is asked for; (sequences, 2): scores of adjacency, for pairs."""
        if task.batch.segments is None:
            return self.encoder.top_at(task.batch, task.places), None
        firsts, n_asked = task.batch.offsets[:-1], len(task.places)
        rows = self.encoder.top_at(task.batch, torch.cat([task.places, firsts]))
        return rows[:n_asked], self.heads.next_sentence(self.encoder.pooled_from(rows[n_asked:]))

    def loss(self, task: Task, n_asked: int, n_sequences: int) -> Tensor:
        """This task's share in the mean loss of a step that asks for so many words of so many sequences."""
        vectors, adjacency = self(task)
        loss: Tensor = vectors.sum() * 0
        if len(task.targets):
            assert self.heads.masked is not None
            masked = self.heads.masked.loss(vectors, self._table, task.targets)
            loss = loss + masked * (len(task.targets) / n_asked)
        if adjacency is not None:
            loss = loss + F.cross_entropy(adjacency, task.strangers) * (len(adjacency) / n_sequences)
        return loss

    def scores(self, task: Task) -> tuple[Tensor, Tensor | None]:
        """(predicted, pieces) and (sequences, 2)."""
        vectors, adjacency = self(task)
        return self.heads.masked_words(vectors, self._table), adjacency

    @property
    def _table(self) -> Tensor:
        return self.encoder.embeddings.words.weight
