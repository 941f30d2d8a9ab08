"""Products of rows and matrices, by whichever library is the faster one on this processor."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

_MOST_TWICE = 1 << 23  # numbers of a matrix that may be in memory twice
_LEAST = 4096  # numbers of a matrix; with fewer, what a call costs is more than what it computes


def times(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows @ weight.T + bias: (rows, in) and (out, in) to (rows, out), with gradients where they are asked for."""
    if not can_choose(rows, weight) or not onednn_is_faster():
        return F.linear(rows, weight, bias)
    learns = rows.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad)
    if torch.is_grad_enabled() and learns:
        found: Tensor = _Times.apply(rows, weight, bias)  # type: ignore[no-untyped-call]
        return found
    return padded_times(rows, weight, bias)


def add_times(into: Tensor, rows: Tensor, weight: Tensor) -> None:
    """into += rows @ weight.T, without gradients. Of a very large one a second copy would cost more than is won."""
    if onednn_is_faster() and can_choose(rows, weight) and into.numel() <= _MOST_TWICE:
        into.add_(padded_times(rows, weight, None))
    else:
        into.addmm_(rows, weight.t())


def pack(weight: Tensor, n_rows: int) -> Tensor:
    """The weight in oneDNN's own layout, which is best for so many rows and serves any other number too."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), n_rows)
    return packed


def packed_times(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """oneDNN's product, without gradients; the weight may be packed."""
    if bias is not None:
        bias = bias.contiguous()  # it is read as plain memory
    found: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
    return found


def padded_times(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The same for batches whose number of rows is never twice the same: oneDNN keeps a program for each, megabytes
    large, and there would be a thousand of them."""
    found = packed_times(_padded(rows), weight, bias)
    return found.resize_(len(rows), found.shape[1])  # no view: whoever asked may change it in place


def n_padding(n_rows: int) -> int:
    """How many rows are added to so many before oneDNN multiplies them: few beside them, so that little is computed
    for nothing, and many enough that few programs are kept."""
    return -n_rows % (8 if n_rows <= 64 else 32 if n_rows <= 1024 else 64)


def _padded(rows: Tensor) -> Tensor:
    n_more = n_padding(len(rows))
    return F.pad(rows, (0, 0, 0, n_more)) if n_more else rows


def can_choose(rows: Tensor, weight: Tensor) -> bool:
    """Whether both libraries could multiply these."""
    plain = rows.device.type == weight.device.type == "cpu" and rows.dtype == weight.dtype == torch.float32
    return (
        plain and not torch.is_autocast_enabled("cpu") and rows.ndim == 2 and weight.numel() >= _LEAST and len(rows) > 0
    )


@cache
def onednn_is_faster() -> bool:
    """MKL, which torch multiplies with, takes AVX-512 from Intel's processors alone; oneDNN takes it from any.

    On an AMD of Zen 4 or 5 that is more than twice the speed (bench/products.py); with AVX2 the two are level. It is
    asked of the processor, not measured: a run that goes on must multiply as it did before.
    """
    has_both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return has_both and torch.backends.cpu.get_cpu_capability() == "AVX512" and "AuthenticAMD" in _vendor()


def _vendor() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return platform.processor()


class _Times(torch.autograd.Function):
    """The same three products that autograd would ask for."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(rows, weight)
        return padded_times(rows, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        rows, weight = ctx.saved_tensors
        grad = grad.contiguous()
        return (
            padded_times(grad, weight.t().contiguous(), None) if ctx.needs_input_grad[0] else None,
            packed_times(_padded(grad).t(), _padded(rows).t(), None) if ctx.needs_input_grad[1] else None,
            grad.sum(0) if ctx.needs_input_grad[2] else None,
        )
