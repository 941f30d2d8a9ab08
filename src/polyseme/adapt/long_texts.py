"""Long documents through a recurrent encoder, in windows whose gradients end at their beginnings (ULMFiT's BPT3C)."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from polyseme.encoders import Encoder
from polyseme.encoders.awd_lstm import AwdLstmEncoder, BidirectionalAwdLstm
from polyseme.text.batches import offsets_of, ranges
from polyseme.text.marked import turned
from polyseme.types import Batch, Encoding, State, mirrored


@dataclass(frozen=True)
class Windows:
    """State flows through all windows of a document; gradients stay within one, and are kept in the last few only."""

    length: int = 70  # positions
    n_learning: int = 20

    def read(self, encoder: Encoder, batch: Batch) -> Encoding:
        """The same vectors as reading it whole, where nothing is dropped."""
        if isinstance(encoder, BidirectionalAwdLstm):
            ahead = self._read(encoder.forward_model, batch)
            back = self._read(encoder.backward_model, turned(batch))
            again = mirrored(batch.offsets)
            pairs = zip(ahead, back, strict=True)
            layers = tuple(torch.cat([one, other.index_select(0, again)], 1) for one, other in pairs)
            return Encoding(layers, batch.offsets)
        if isinstance(encoder, AwdLstmEncoder):
            return Encoding(tuple(self._read(encoder, batch)), batch.offsets)
        whole: Encoding = encoder(batch)
        return whole

    def _read(self, encoder: AwdLstmEncoder, batch: Batch) -> list[Tensor]:
        """Windows are counted from the end, so that the last ones of all documents are read together."""
        lengths, n_windows = batch.lengths, -(-batch.lengths // self.length)
        most = int(n_windows.max()) if batch.n_sequences else 0
        if most <= 1:
            return list(encoder(batch).layers)
        state: State = tuple(
            encoder.embedding.weight.new_zeros(batch.n_sequences, width) for width in encoder.widths[1:] for _ in "hc"
        )
        found, places = [], []
        for number in range(most, 0, -1):
            running = (n_windows >= number).nonzero().flatten()
            ends = lengths[running] - (number - 1) * self.length
            starts = (ends - self.length).clamp(min=0)
            positions = ranges(batch.offsets[running] + starts, ends - starts)
            with nullcontext() if number <= self.n_learning else torch.no_grad():
                part = replace(
                    batch, ids=batch.ids[positions], words=batch.words[positions], offsets=offsets_of(ends - starts),
                    n_words=batch.n_words[running], texts=batch.texts[running],
                )  # fmt: skip
                encoding = encoder(part, tuple(tensor[running] for tensor in state))
            assert encoding.state is not None
            state = tuple(
                old.index_copy(0, running, new.detach()) for old, new in zip(state, encoding.state, strict=True)
            )
            found.append(encoding.layers)
            places.append(positions)
        order = torch.cat(places).argsort()
        return [torch.cat(parts).index_select(0, order) for parts in zip(*found, strict=True)]
