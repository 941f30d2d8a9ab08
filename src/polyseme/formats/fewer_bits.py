"""Weights in fewer bits: in 8 with a scale a row, or in 16; read, they are of 32 bits again."""

from collections.abc import Mapping
from typing import Literal, get_args

import torch
from torch import Tensor

from polyseme.errors import BadFile, Mistake

Weights = Literal["float32", "float16", "int8"]

SCALE = ".scale"
_LEAST = 1024  # numbers in a matrix, below which 8 bits save nothing worth their error


def check(weights: str) -> None:
    if weights not in get_args(Weights):
        raise Mistake(f"weights={weights!r} is not known. Use one of {', '.join(get_args(Weights))}.")


def smaller(tensors: Mapping[str, Tensor], weights: Weights) -> dict[str, Tensor]:
    """Tensors as they are stored."""
    check(weights)
    if weights == "float32":
        return dict(tensors)
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if weights == "int8" and tensor.dim() > 1 and tensor.numel() >= _LEAST:
            found[name], found[name + SCALE] = _rounded(name, tensor)
        else:
            found[name] = _halved(name, tensor)
    return found


def whole(tensors: Mapping[str, Tensor], source: str) -> dict[str, Tensor]:
    """Tensors as they are computed with. One that is stored in full keeps its memory."""
    found = {}
    for name, tensor in tensors.items():
        if tensor.dtype == torch.int8:
            scale = tensors.get(name + SCALE)
            if scale is None or tensor.dim() < 2 or scale.shape != tensor.shape[:1] or not scale.is_floating_point():
                raise BadFile(f"{source}: {name} is in 8 bits and wants rows, and {name + SCALE} with a number a row.")
            found[name] = (tensor.flatten(1).float() * scale.float().unsqueeze(1)).view(tensor.shape)
        elif not _is_scale(name, tensors):
            found[name] = tensor.float()
    return found


def _is_scale(name: str, tensors: Mapping[str, Tensor]) -> bool:
    of = tensors.get(name.removesuffix(SCALE))
    return name.endswith(SCALE) and of is not None and of.dtype == torch.int8


def _rounded(name: str, tensor: Tensor) -> tuple[Tensor, Tensor]:
    """(rows, …) in 8 bits, and the scale of each row, with which its largest number is 127."""
    rows = tensor.flatten(1).float()
    scales = rows.abs().amax(1).clamp(min=1e-12) / 127
    if not scales.isfinite().all():
        raise Mistake(f"{name} holds NaN or infinity, not numbers. Take an earlier checkpoint.")
    return (rows / scales.unsqueeze(1)).round().to(torch.int8).view(tensor.shape), scales


def _halved(name: str, tensor: Tensor) -> Tensor:
    half = tensor.to(torch.float16)
    if not half.isfinite().all():
        raise Mistake(f"{name} has numbers that 16 bits cannot hold. Keep the weights in float32.")
    return half
