"""Batches encoded side by side, where one thread a batch is faster than all threads on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from polyseme.encoders.encoder import Encoder
from polyseme.layers.memory import keep_memory
from polyseme.layers.prepared import Seen, unchanged

Made = TypeVar("Made")


def side_by_side(encoder: Encoder, groups: Iterable[Tensor], work: Callable[[Tensor], Made]) -> list[Made]:
    """What `work` makes of each group of sequences, in order, without gradients.

    The products of a small encoder are too small to share: each thread then takes whole batches and computes alone.
    """
    keep_memory()
    groups = list(groups)
    seen: Seen = {}
    n_workers = max(1, min(at_once(encoder), len(groups)))
    if n_workers == 1:
        return [_without_gradients(work, group, seen) for group in groups]
    n_threads, ready = torch.get_num_threads(), Barrier(n_workers + 1)
    with ThreadPoolExecutor(n_workers, initializer=_alone, initargs=(ready,)) as workers:
        waiting = [workers.submit(_without_gradients, work, group, seen) for group in groups]
        ready.wait()
        torch.set_num_threads(n_threads)  # the last number set is also what threads born later begin with
        try:
            return [made.result() for made in waiting]
        finally:
            workers.shutdown(cancel_futures=True)


@contextmanager
def evaluating(*modules: nn.Module) -> Iterator[None]:
    """The modules in eval mode, and in the mode they were in once the last thread that reads with them has done."""
    with _lock:
        for module in modules:
            n_readers, was_training = _readers.get(module, (0, module.training))
            _readers[module] = (n_readers + 1, was_training)
            module.eval()
    try:
        yield
    finally:
        with _lock:
            for module in modules:
                n_readers, was_training = _readers.pop(module)
                if n_readers > 1:
                    _readers[module] = (n_readers - 1, was_training)
                else:
                    module.train(was_training)


def at_once(encoder: Encoder) -> int:
    """How many batches are encoded side by side, where there are so many."""
    if not encoder.small or any(parameter.device.type != "cpu" for parameter in encoder.parameters()):
        return 1
    return torch.get_num_threads()


def even_share(encoder: Encoder, most: int) -> int:
    """Of so many batches at the most, as many as come out even among those who work side by side; one each at least."""
    n = at_once(encoder)
    return max(1, most // n) * n


_readers: WeakKeyDictionary[nn.Module, tuple[int, bool]] = WeakKeyDictionary()  # how many, and the mode before
_lock = Lock()


def _alone(ready: Barrier) -> None:
    torch.get_num_threads()  # a thread's first question sets its number; asked later it would undo the next line
    torch.set_num_threads(1)  # with OpenMP it holds for this thread
    ready.wait()


def _without_gradients(work: Callable[[Tensor], Made], group: Tensor, seen: Seen) -> Made:
    with torch.inference_mode(), unchanged(seen):  # a thread enters them for itself
        return work(group)
