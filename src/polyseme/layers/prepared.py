"""What is made once from a module's parameters and never used after they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock, local
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

Made = TypeVar("Made")
Seen: TypeAlias = dict[tuple[int, str], Any]

_SAMPLE, _SMALL = 1024, 8192  # values of a large tensor that are compared; a small one is compared whole


def can_prepare(module: nn.Module) -> bool:
    """Whether the module is only read here, and its parameters tell when they change."""
    return not torch.is_grad_enabled() and not any(parameter.is_inference() for parameter in module.parameters())


def prepared(module: nn.Module, name: str, make: Callable[[], Made]) -> Made:
    """What `make` gives for the module's parameters as they are now.

    It is kept beside the module, not on it: copies and saved files do not see it, and it goes when the module goes.
    """
    return asked_once(module, name, lambda: _looked_up(module, name, make))


def asked_once(module: nn.Module, name: str, make: Callable[[], Made]) -> Made:
    """What `make` gives; inside `unchanged` it is made the first time only."""
    seen: Seen | None = getattr(_here, "seen", None)
    if seen is None:
        return make()
    key = (id(module), name)
    if key not in seen:
        seen[key] = make()
    made: Made = seen[key]
    return made


@contextmanager
def unchanged(seen: Seen) -> Iterator[None]:
    """Inside the block, in this thread, parameters are looked at once: nobody changes them, or asks for gradients,
    before the end. Threads that do one thing together share what they have `seen`, a dict that is empty at first."""
    before = getattr(_here, "seen", None)
    _here.seen = seen
    try:
        yield
    finally:
        _here.seen = before


def _looked_up(module: nn.Module, name: str, make: Callable[[], Made]) -> Made:
    with _lock:
        kept = _kept.setdefault(module, {})
        stamps = [_Stamp.of(parameter) for parameter in module.parameters()]
        found = kept.get(name)
        if found is None or found[0] != stamps:
            found = kept[name] = (stamps, make())
        made: Made = found[1]
        return made


@dataclass(frozen=True)
class _Stamp:
    """A tensor as it was: the same object, memory, version and sample of values mean the same values.

    Nearly every in-place operation raises the version. torch's fused optimizers and writing through `.data` do not:
    for them there is the sample, of which a step of training leaves nothing as it was.
    """

    tensor: int
    memory: int
    version: int
    sample: bytes
    holds: tuple[Tensor, Tensor] = field(compare=False)  # keeps the two addresses from being given to others

    @classmethod
    def of(cls, tensor: Tensor) -> _Stamp:
        values = tensor.detach().flatten()
        step = max(1, len(values) // _SAMPLE) if len(values) > _SMALL else 1
        sample = values[::step].contiguous().view(torch.uint8).numpy().tobytes()
        return cls(id(tensor), tensor.data_ptr(), tensor._version, sample, (tensor, values))


_kept: WeakKeyDictionary[nn.Module, dict[str, tuple[list[_Stamp], Any]]] = WeakKeyDictionary()
_lock = RLock()
_here = local()
