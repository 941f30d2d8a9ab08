"""The same BERT with layers around the origin: what all rows have in common goes into what reads them."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from polyseme.encoders.bert import BertEncoder, Block
from polyseme.encoders.bert_heads import BertHeads
from polyseme.types import Batch


def centre(encoder: BertEncoder, heads: BertHeads | None, batches: Iterable[Batch]) -> None:
    """Take the mean of each layer over these texts off the layer, and add what it did to the biases behind it.

    A common mean is nothing to the model, whose heads and blocks see the same sums as before; but where it is large,
    any two vectors have a cosine near 1, and whoever compares them sees nothing else (docs/log.md).
    """
    means = _means(encoder, batches)
    with torch.no_grad():
        for norm, mean in zip(_norms(encoder), means, strict=True):
            norm.bias.sub_(mean)
        for block, mean in zip(_blocks(encoder), means[:-1], strict=True):
            _expect(block.attention.qkv, mean)
            block.attention.out.bias.add_(mean)  # the sum of what the block adds and what it read is as before
        for reader in (encoder.pooler, None if heads is None or heads.masked is None else heads.masked.dense):
            if reader is not None:
                _expect(reader, means[-1])


def _means(encoder: BertEncoder, batches: Iterable[Batch]) -> list[Tensor]:
    """(width,) of each layer, over all positions."""
    total, n_rows = torch.zeros(len(encoder.widths), encoder.widths[-1], dtype=torch.double), 0
    was_training = encoder.training
    encoder.eval()
    with torch.no_grad():
        for batch in batches:
            total += torch.stack([layer.sum(0, dtype=torch.double) for layer in encoder(batch).layers])
            n_rows += len(batch.ids)
    encoder.train(was_training)
    return list((total / max(1, n_rows)).float().unbind())


def _expect(linear: nn.Linear, mean: Tensor) -> None:
    """Rows come without their mean from now on."""
    linear.bias.add_(linear.weight @ mean)


def _blocks(encoder: BertEncoder) -> list[Block]:
    return [block for block in encoder.stack if isinstance(block, Block)]


def _norms(encoder: BertEncoder) -> list[nn.LayerNorm]:
    """The one that makes each layer."""
    return [encoder.embeddings.norm, *(block.norm for block in _blocks(encoder))]
