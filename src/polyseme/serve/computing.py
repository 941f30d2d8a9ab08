"""Work in a thread: how many threads torch gives it, and what happens when one input of many is bad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch


def threads(n_threads: int) -> ThreadPoolExecutor:
    """As many as torch may use, each of which is told for every batch with how many torch may compute."""
    # a thread's first question sets its number; asked later it would undo what was set
    return ThreadPoolExecutor(n_threads, "compute", initializer=torch.get_num_threads)


def attempt(work: Callable[[Sequence[Any]], list[Any]], inputs: Sequence[Any], n_threads: int) -> list[Any]:
    """What the work makes of each input, or the exception that input caused."""
    if torch.get_num_threads() != n_threads:
        torch.set_num_threads(n_threads)  # with OpenMP it holds for this thread
    with torch.inference_mode():
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
