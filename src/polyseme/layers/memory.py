"""Memory that a batch gives back is kept for the next one."""

import ctypes
import gc
import os
from functools import cache
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's names for them, in malloc.h
_KEPT = 256 << 20  # bytes that may lie free, of each thread's, before the system gets them back
_LARGEST = 32 << 20  # a piece of more is the system's each time; glibc allows no higher limit


@cache
def keep_memory() -> bool:
    """Ask the C library to hand freed memory out again, not to give it back to the system; whether it does.

    glibc gives much of what a thread frees back at once, and every batch gets it anew, page by page, each filled with
    zeros: up to a tenth of the time (docs/log.md). Whoever has settled this by environment variables is left alone.
    """
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ):
        return False
    mallopt = _of_the_c_library("mallopt")
    return mallopt is not None and bool(mallopt(_TRIM_THRESHOLD, _KEPT) and mallopt(_MMAP_THRESHOLD, _LARGEST))


def give_back() -> None:
    """Hand what lies free to the system after all, where the C library can: before memory is measured."""
    gc.collect()
    trim = _of_the_c_library("malloc_trim")
    if trim is not None:
        trim(ctypes.c_size_t(0))


def _of_the_c_library(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if os.name == "posix" else None
