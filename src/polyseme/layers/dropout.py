"""The dropouts of AWD-LSTM (Merity et al. 2017): each differs in what it drops together.

Their randomness is torch's default generator at the time of the call, so that whoever seeds it decides the masks.
"""

import torch.nn.functional as F
from torch import Tensor


def variational(vectors: Tensor, sequences: Tensor, n_sequences: int, p: float, training: bool) -> Tensor:
    """One mask a sequence, the same at all its positions; `sequences` says which one a row belongs to."""
    if not training or p == 0:
        return vectors
    masks = keep_mask(vectors, (n_sequences, vectors.shape[-1]), p)
    return vectors * masks.index_select(0, sequences)


def variational_block(vectors: Tensor, p: float, training: bool) -> Tensor:
    """The same for sequences of one length, (sequences, length, width), with the same masks."""
    if not training or p == 0:
        return vectors
    return vectors * keep_mask(vectors, (len(vectors), vectors.shape[-1]), p).unsqueeze(1)


def embedding(ids: Tensor, weight: Tensor, p: float, training: bool) -> Tensor:
    """Look up rows of a table of which whole words are dropped: a word is gone everywhere in the batch, or nowhere."""
    vectors = F.embedding(ids, weight)
    if not training or p == 0:
        return vectors
    return vectors * keep_mask(weight, (len(weight), 1), p)[ids]  # not weight * mask: that is as big as the table


def dropped_weight(weight: Tensor, p: float, training: bool) -> Tensor:
    """DropConnect: single weights are dropped, and stay so for all the steps that use the result."""
    return F.dropout(weight, p, training)


def keep_mask(like: Tensor, shape: tuple[int, ...], p: float) -> Tensor:
    """Zeros with probability p, else 1 / (1 - p), so that the mean stays what it was."""
    return like.new_empty(shape).bernoulli_(1 - p).div_(1 - p)
