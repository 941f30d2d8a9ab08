"""Work in a thread: how many threads torch gives it, and what happens when one input of many is bad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import torch

from polyseme.layers.prepared import unchanged


class Threads:
    """Where batches are computed: a thread for each batch that gets one of torch's, and one for a batch that gets all.

    OpenMP's helpers belong to the thread that asks for them. If every thread had some, they would be more than there
    are cores, none would stay awake between two products, and a single sentence would take a quarter longer.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        # a thread's first question sets its number; asked later it would undo what was set
        self._one = ThreadPoolExecutor(n_threads, "compute", initializer=torch.get_num_threads)
        self._all = ThreadPoolExecutor(1, "compute-all", initializer=torch.get_num_threads)

    def given(self, n_threads: int) -> Executor:
        """Where a batch goes that may have so many of torch's threads."""
        return self._one if n_threads == 1 else self._all


def attempt(work: Callable[[Sequence[Any]], list[Any]], inputs: Sequence[Any], n_threads: int) -> list[Any]:
    """What the work makes of each input, or the exception that input caused."""
    if torch.get_num_threads() != n_threads:
        torch.set_num_threads(n_threads)  # with OpenMP it holds for this thread
    with torch.inference_mode(), unchanged({}):
        return _attempt(work, inputs)


def _attempt(work: Callable[[Sequence[Any]], list[Any]], inputs: Sequence[Any]) -> list[Any]:
    """Where a batch fails, its halves are tried: the others of the batch must not suffer for one."""
    try:
        return work(inputs)
    except Exception as error:  # whoever asked is told
        if len(inputs) == 1:
            return [error]
    half = len(inputs) // 2
    return _attempt(work, inputs[:half]) + _attempt(work, inputs[half:])
