"""How a language model is measured on the text held out while it learns."""

from typing import Protocol

from polyseme.train import optim

_TIMES = 10  # in a run of few epochs
_MOST = 100  # in any run
_DISTANCE = 10  # words learned from between two measurements, for each that is held out: the full softmax is dear


class Sizes(Protocol):
    """How long a run is."""

    n_steps: int
    steps_an_epoch: int
    words_a_step: int


def steps_between(run: Sizes, n_held_out: int, optimizer: optim.Name) -> int:
    """Once an epoch; a run of few epochs, or of a part of one, is measured more often, so that it has a curve, and one
    of many short epochs more seldom.

    >>> from types import SimpleNamespace
    >>> sizes = {"steps_an_epoch": 1000, "words_a_step": 640}
    >>> ten, one, part = (SimpleNamespace(n_steps=n, **sizes) for n in (10_000, 1000, 400))
    >>> [steps_between(run, 1000, "adamw") for run in (ten, one, part)], steps_between(one, 30_000, "adamw")
    ([1000, 100, 40], 469)
    >>> short_epochs = SimpleNamespace(n_steps=2000, steps_an_epoch=2, words_a_step=640)
    >>> steps_between(short_epochs, 1000, "adamw"), steps_between(short_epochs, 60_000, "adamw")
    (20, 938)
    """
    if optimizer == "nt_asgd":
        return run.steps_an_epoch  # its patience is counted in measurements, one an epoch
    span = min(run.n_steps, run.steps_an_epoch)
    often = -(-span // max(1, _TIMES * span // run.n_steps))
    dear = -(-_DISTANCE * n_held_out // run.words_a_step)
    return min(run.n_steps, max(often, dear, run.n_steps // _MOST))
