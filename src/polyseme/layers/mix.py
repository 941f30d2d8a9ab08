"""Several layers to one: a single layer, their equal mix, or all of them."""

from typing import Literal

import torch
from torch import Tensor

from polyseme.errors import Mistake

Layers = Literal["top", "mix", "all"] | int


def choose(layers: tuple[Tensor, ...], which: Layers) -> Tensor:
    """(rows, width) for the top, the equal mix or the n-th layer; (layers, rows, width) for all of them."""
    match which:
        case "top":
            return layers[-1]
        case "mix":
            return torch.stack(_of_one_width(layers, which)).mean(0)
        case "all":
            return torch.stack(_of_one_width(layers, which))
        case int() if -len(layers) <= which < len(layers):
            return layers[which]
        case int():
            raise Mistake(
                f"layers={which} was asked for; this encoder has {len(layers)} layers, 0 (context-free) to "
                f"{len(layers) - 1} (top)."
            )
        case _:
            raise Mistake(f"layers={which!r} is not known. Use 'top', 'mix', 'all' or the number of a layer.")


def _of_one_width(layers: tuple[Tensor, ...], which: str) -> tuple[Tensor, ...]:
    widths = [layer.shape[-1] for layer in layers]
    if len(set(widths)) > 1:
        raise Mistake(
            f"layers={which!r} needs layers of one width; this encoder has {', '.join(map(str, widths))}. "
            "Use layers='top' or the number of a layer."
        )
    return layers
