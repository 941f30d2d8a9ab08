"""Weights as something to hash."""

from typing import Protocol

import torch
from torch import nn


class Digest(Protocol):
    """What hashlib gives."""

    def update(self, data: bytes | memoryview, /) -> None: ...


def add_weights(digest: Digest, module: nn.Module) -> None:
    """Every weight with its name, type and shape."""
    for name, tensor in module.state_dict().items():
        digest.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().contiguous().flatten().view(torch.uint8).numpy().data)
