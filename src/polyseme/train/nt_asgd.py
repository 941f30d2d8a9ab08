"""NT-ASGD (Merity et al. 2017): plain SGD that begins to average its weights once it no longer gets better."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from polyseme.train.average import add_to_mean

_WHOLE = "all"  # the owner of what belongs to no single parameter


class NtAsgd(torch.optim.Optimizer):
    """SGD that is told the loss on held-out text now and then, and averages from the moment the trigger says so.

    From then on it is torch's ASGD with t0=0 and lambd=0, but with the rate of the step itself: torch's takes the one
    of the step before, which goes wrong where the rate follows the length of a window.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], rate: float, patience: int = 5) -> None:
        super().__init__(groups, {"lr": rate, "weight_decay": 0.0})
        self.patience = patience

    @property
    def losses(self) -> list[float]:
        """What it has been told so far."""
        slots: dict[Any, dict[str, Tensor]] = self.state
        return slots[_WHOLE]["losses"].tolist() if _WHOLE in slots else []

    @property
    def averages(self) -> bool:
        return triggered(self.losses, self.patience)

    def hear(self, loss: float) -> None:
        """The loss, or anything that rises with it, on text held out."""
        if not self.averages:
            slots: dict[Any, dict[str, Tensor]] = self.state
            slots[_WHOLE] = {"losses": torch.tensor([*self.losses, loss], dtype=torch.double)}

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        assert closure is None
        averages = self.averages
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    change = parameter.grad.add(parameter, alpha=group["weight_decay"])
                    parameter.add_(change, alpha=-group["lr"])
                if averages:  # as in torch, the weights after the first step are left out
                    add_to_mean(self.state[parameter], parameter, n_left_out=1)


def triggered(losses: list[float], patience: int) -> bool:
    """Whether the last loss is worse than the best one of more than `patience` evaluations ago (algorithm 1).

    >>> triggered([5, 4, 3, 3.5], patience=2), triggered([5, 3, 4, 4.5, 3.5], patience=2)
    (False, True)
    """
    return len(losses) > patience + 1 and losses[-1] > min(losses[: -patience - 1])
