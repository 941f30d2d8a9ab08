"""How parameters begin: like torch's own, but free on the meta device.

There a model is made only to be given its values, and torch's normal_() imports its compiler, for two seconds.
"""

import torch
from torch import Tensor, nn


def normal_(tensor: Tensor, std: float, mean: float = 0.0) -> Tensor:
    """Fill with normal numbers, unless there is nothing to fill."""
    return tensor if tensor.is_meta else nn.init.normal_(tensor, mean, std)


def table(n_rows: int, width: int, std: float = 1.0) -> nn.Embedding:
    """An embedding of normal numbers."""
    embedding = nn.Embedding(n_rows, width, _weight=torch.empty(n_rows, width))
    normal_(embedding.weight, std)
    return embedding
