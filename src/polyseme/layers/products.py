"""Products with large matrices, as fast as a small batch allows."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.layers.dense import pack, packed_times
from polyseme.layers.prepared import can_prepare, prepared

Precision = Literal["float32", "int8"]
Product = Callable[[Tensor, Tensor | None], Tensor]  # (rows, bias) -> rows @ weight.T + bias

_ROWS = 64  # the packing is chosen for a batch of this size; it serves every other size too


def check_precision(precision: Precision) -> None:
    """Says so if there is no such precision."""
    if precision not in get_args(Precision):
        raise Mistake(f"precision={precision!r} is not known. Use {' or '.join(map(repr, get_args(Precision)))}.")


def product(linear: nn.Linear, precision: Precision = "float32") -> Product:
    """How to multiply by this layer's weight; its bias is left to the caller."""
    return product_of(linear, "weight", lambda: linear.weight, precision)


def product_of(module: nn.Module, name: str, weight: Callable[[], Tensor], precision: Precision = "float32") -> Product:
    """How to multiply by a matrix (out, in) that is made of the module's parameters.

    A recurrent step is a small batch against a big matrix, where the plain product is slow. Without gradients the
    matrix is packed once: oneDNN's blocked layout is 2 to 4 times faster there, and gives a row the same result to the
    last bit whatever rows it comes with. Or it is rounded to 8 bits; then all rows share one scale, so that a
    row's result depends a little on the others.
    """
    check_precision(precision)
    some = next(module.parameters())
    if some.device.type != "cpu" or some.dtype != torch.float32 or not can_prepare(module):
        return partial(_plain, weight())
    if precision == "int8":
        return partial(_rounded, prepared(module, f"{name} int8", lambda: _round(weight())))
    if torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return partial(_packed, prepared(module, f"{name} packed", lambda: pack(weight(), _ROWS)))
    return partial(_plain, weight())


def packed_for(weight: Tensor) -> Callable[[Tensor], Tensor]:
    """rows -> rows @ weight.T, without gradients, for a matrix (out, in) that is used many times before it changes."""
    can_pack = weight.device.type == "cpu" and weight.dtype == torch.float32
    if can_pack and torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        packed = pack(weight, _ROWS)
        return lambda rows: _packed(packed, rows, None)
    return lambda rows: F.linear(rows, weight)


def _plain(weight: Tensor, rows: Tensor, bias: Tensor | None) -> Tensor:
    return F.linear(rows, weight, bias)


def _packed(weight: Tensor, rows: Tensor, bias: Tensor | None) -> Tensor:
    return packed_times(rows, weight, bias)


def _round(weight: Tensor) -> torch.ScriptObject:
    """The weight in 8 bits, each output with a scale of its own."""
    scales = weight.detach().abs().amax(1).clamp(min=1e-12) / 127
    zeros = torch.zeros(len(weight), dtype=torch.int64)
    with warnings.catch_warnings():
        # torch means to drop its quantised tensors (pytorch issue 184982). They are still the only way to its fastest
        # 8-bit product; oneDNN's, which takes plain tensors, has half the speed for small batches.
        warnings.filterwarnings("ignore", "torch.quantize_per_tensor, torch.quantize_per_channel", UserWarning)
        rounded = torch.quantize_per_channel(weight.detach(), scales, zeros, 0, torch.qint8)
    packed: torch.ScriptObject = torch.ops.quantized.linear_prepack(rounded, None)
    return packed


def _rounded(weight: torch.ScriptObject, rows: Tensor, bias: Tensor | None) -> Tensor:
    # AVX2 adds pairs of byte products in 16 bits, which overflow: rows take 7 bits only
    out: Tensor = torch.ops.quantized.linear_dynamic(rows, weight, reduce_range=True)
    return out if bias is None else out.add_(bias)
