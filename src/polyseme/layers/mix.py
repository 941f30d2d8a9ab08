"""Several layers to one: a single layer, their mix, equal or learned, or some of them side by side."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake

Layers = Literal["top", "mix", "last4", "all"] | int


def layer_numbers(which: Layers, n_layers: int) -> tuple[int, ...]:
    """Those of the layers that are asked for, 0 (context-free) and up."""
    match which:
        case "top":
            return (n_layers - 1,)
        case "mix" | "all":
            return tuple(range(n_layers))
        case "last4" if n_layers >= 4:
            return tuple(range(n_layers - 4, n_layers))
        case int() if -n_layers <= which < n_layers:
            return (which % n_layers,)
        case "last4" | int():
            raise Mistake(
                f"layers={which!r} was asked for; this encoder has {_counted(n_layers)}. Use 'top', 'mix', the number "
                "of one, or with four or more 'last4'."
            )
        case _:
            raise Mistake(f"layers={which!r} is not known. Use 'top', 'mix', 'last4', 'all' or the number of a layer.")


def _counted(n_layers: int) -> str:
    if n_layers == 1:
        return "one layer, 0 (context-free)"
    return f"{n_layers} layers, 0 (context-free) to {n_layers - 1} (top)"


def choose(layers: tuple[Tensor, ...], which: Layers) -> Tensor:
    """(rows, width) for the top, the equal mix or the n-th layer; (layers, rows, width) for all of them.

    "last4" is the last four side by side, (rows, their widths in all): BERT's best features (Devlin et al. 2019).
    """
    some = tuple(layers[number] for number in layer_numbers(which, len(layers)))
    if which in ("mix", "all"):
        stacked = torch.stack(_of_one_width(some, which))
        return stacked if which == "all" else stacked.mean(0)
    return some[0] if len(some) == 1 else torch.cat(some, -1)


class Mix(nn.Module):
    """ELMo's mix (Peters et al. 2018): gamma * sum of softmax(w)_j * layer_j, with w 0 and gamma 1 at first.

    With `norm` each layer is first given mean 0 and variance 1 over all its elements, as in the reference. While it
    learns these are the batch's; afterwards they are the mean of all batches it has learned from, so that a row's
    vector does not depend on the rows it comes with.
    """

    seen: Tensor
    means: Tensor
    variances: Tensor

    def __init__(self, n_layers: int, norm: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout = norm, dropout
        self.scores = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(()))
        if norm:
            self.register_buffer("seen", torch.zeros(()))  # batches
            self.register_buffer("means", torch.zeros(n_layers, 1, 1))
            self.register_buffer("variances", torch.zeros(n_layers, 1, 1))

    @property
    def weights(self) -> Tensor:
        """(layers,) how much of each layer is in the mix; 1 in all."""
        return self.scores.softmax(0)

    def facts(self) -> dict[str, Any]:
        """What was learned, for a record."""
        return {"weights": self.weights.tolist(), "gamma": self.gamma.item()}

    def forward(self, layers: tuple[Tensor, ...]) -> Tensor:
        """(rows, width)"""
        if len(layers) != len(self.scores):
            raise Mistake(f"This mix is of {len(self.scores)} layers; {len(layers)} were given.")
        stacked = torch.stack(_of_one_width(layers, "mix"))  # (layers, rows, width)
        if self.norm and stacked.numel():
            stacked = self._normed(stacked)
        mixed = (self.gamma * self.weights @ stacked.flatten(1)).view(stacked.shape[1:])
        return F.dropout(mixed, self.dropout, self.training)

    def _normed(self, stacked: Tensor) -> Tensor:
        mean, variance = self.means, self.variances
        if self.training or not self.seen:
            variance, mean = torch.var_mean(stacked, (1, 2), correction=0, keepdim=True)
        if self.training:
            with torch.no_grad():
                self.seen += 1
                self.means += (mean - self.means) / self.seen
                self.variances += (variance - self.variances) / self.seen
        return (stacked - mean) / (variance + 1e-12).sqrt()

    def penalty(self, strength: float) -> Tensor:
        """What to add to the loss: 1 keeps the mix near the mean of the layers, 0.001 lets it choose."""
        return strength * self.scores.square().sum()


def _of_one_width(layers: tuple[Tensor, ...], which: str) -> tuple[Tensor, ...]:
    widths = [layer.shape[-1] for layer in layers]
    if len(set(widths)) > 1:
        raise Mistake(
            f"layers={which!r} needs layers of one width; this encoder has {', '.join(map(str, widths))}. "
            "Use layers='top' or the number of a layer."
        )
    return layers
