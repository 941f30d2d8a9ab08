"""Linear layers in 8 bits, every row with a scale of its own: its result depends on no other row."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.layers.dense import can_choose, onednn_is_faster, pack, padded_times, times
from polyseme.layers.prepared import asked_once, can_prepare, prepared
from polyseme.layers.products import Precision, check_precision

_LEVELS = 254  # and one for what rounding to the nearest adds
_TOP = torch.tensor(float(_LEVELS), device="cpu")
_WHOLE = torch.tensor(1.5 * 2**23, device="cpu")  # what is added to it comes to a whole number, in its lowest bits
_FLAT = 1e-28  # the least that a row's numbers may lie apart
_PAIR = 32767 // 255 - 1  # what two neighbouring weights may add up to; 1 is for their rounding
_ROWS = 1024  # the packing is chosen for a batch of this size; it serves every other size too


def linear(
    layer: nn.Linear, rows: Tensor, precision: Precision = "float32", least: float | None = None, spent: bool = False
) -> Tensor:
    """layer(rows); or nearly that in 8 bits, where it is asked for, no gradients are and the processor can.

    `least` says that no number among the rows is less, as behind an activation: then nobody has to look. `spent` says
    that nobody reads them afterwards: without gradients they may be written over.
    """
    name = f"{precision} from {least}, spent {spent}"
    return asked_once(layer, name, lambda: _chosen(layer, rows, precision, least, spent))(rows)


def _chosen(
    layer: nn.Linear, rows: Tensor, precision: Precision, least: float | None, spent: bool
) -> Callable[[Tensor], Tensor]:
    """How rows like these are multiplied."""
    check_precision(precision)
    if is_rounded(layer, rows, precision):
        rounded = prepared(layer, f"int8 by row from {least}", lambda: _Rounded.of(layer, least))
        return partial(rounded.product, spent)
    if onednn_is_faster() and can_choose(rows, layer.weight) and can_prepare(layer):
        packed = prepared(layer, "packed", lambda: pack(layer.weight, _ROWS))  # it is only read
        return lambda rows: padded_times(rows, packed, layer.bias)
    return lambda rows: times(rows, layer.weight, layer.bias)


@dataclass(frozen=True)
class _Rounded:
    """A layer whose weight (out, in) is in 8 bits, each output with a scale of its own."""

    packed: Tensor
    scales: Tensor  # (out,)
    zeros: Tensor  # (out,)
    sums: Tensor  # (out,) of the rounded rows
    least: Tensor | None  # () of the numbers that come in, where that is known
    bias: Tensor  # (out,)

    @classmethod
    def of(cls, layer: nn.Linear, least: float | None) -> Self:
        """AVX2 adds the products of two neighbours in 16 bits. Rows have 8 bits, so that these could overflow: a scale
        is chosen with which they never do. Rounding rows to 7 bits instead costs twice the precision. A processor with
        VNNI adds them in 32 bits, and weights have all of their 8."""
        weight = layer.weight.detach()
        scales = weight.abs().amax(1) / 127
        if not adds_in_32_bits():
            pairs = F.pad(weight, (0, weight.shape[1] % 2)).view(len(weight), -1, 2)  # (out, pairs, 2)
            largest = torch.maximum(pairs.clamp(min=0).sum(2), pairs.clamp(max=0).sum(2).neg()).amax(1)
            scales = torch.maximum(largest / _PAIR, scales)
        scales = scales.clamp(min=1e-12)
        rounded = (weight / scales.unsqueeze(1)).round()
        packed = torch.ops.onednn.qlinear_prepack(rounded.to(torch.int8), [_ROWS, weight.shape[1]])
        sums, known = rounded.sum(1) * scales, None if least is None else torch.tensor(least, device="cpu")
        bias = torch.zeros_like(sums) if layer.bias is None else layer.bias.detach()
        return cls(packed, scales, torch.zeros(len(scales), dtype=torch.int32), sums, known, bias)

    def product(self, spent: bool, rows: Tensor) -> Tensor:
        """Few operations, since each of them costs a turn of Python's lock, and in place, since memory is slow."""
        lows = rows.amin(1, keepdim=True) if self.least is None else self.least
        spans = torch.sub(rows.amax(1, keepdim=True), lows).clamp_(min=_FLAT)
        per_level = torch.div(_TOP, spans)
        zeros = torch.addcmul(_WHOLE, lows, per_level, value=-1)  # the level of 0 in each row, and _WHOLE
        levels = rows.mul_(per_level) if spent else rows.mul(per_level)
        levels.add_(zeros)  # 0 to 255 in the lowest byte
        found: Tensor = torch.ops.onednn.qlinear_pointwise(
            levels.view(torch.int32).to(torch.uint8),
            *(1.0, 0, self.packed, self.scales, self.zeros, None, 1.0, 0, torch.float32, "none", [], ""),
        )
        torch.addcmul(self.bias, found, spans, value=1 / _LEVELS, out=found)
        return found.addcmul_(zeros.sub_(_WHOLE).mul_(spans), self.sums, value=-1 / _LEVELS)  # levels count from there


def is_rounded(layer: nn.Linear, rows: Tensor, precision: Precision) -> bool:
    """Whether `linear` multiplies rows like these in 8 bits."""
    is_plain = rows.device.type == "cpu" and rows.dtype == layer.weight.dtype == torch.float32
    return precision == "int8" and is_plain and can_prepare(layer) and processor_rounds()


def adds_in_32_bits() -> bool:
    """Whether sums of bytes cannot overflow: the processor has VNNI, and oneDNN was not told to do without."""
    told = any(name in os.environ for name in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"))
    return bool(torch.cpu._is_vnni_supported()) and not told


def processor_rounds() -> bool:
    """Whether this processor multiplies bytes fast enough to be worth it."""
    return torch.backends.cpu.get_cpu_capability().startswith("AVX")
