"""A bounded folder of arrays, found again by what they were made from."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyseme.errors import BadFile, Mistake
from polyseme.files import new_folder, write_file

GIGABYTE = 1_000_000_000
_META = "meta.json"
_WORTH_SAYING = 10_000_000  # bytes
_JUST_NOW = 60.0  # seconds


@dataclass(frozen=True)
class Shape:
    """Arrays that are to be made: some of one shape and type."""

    n_arrays: int
    shape: tuple[int, int]
    dtype: str  # float32 or float16

    @property
    def n_bytes(self) -> int:
        return self.n_arrays * self.shape[0] * self.shape[1] * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Store:
    """Folders of arrays by key; the ones unused for longest go when the bound is reached."""

    folder: Path
    bound: int = 10 * GIGABYTE  # bytes

    def arrays(
        self, key: str, shape: Shape, fill: Callable[[list[NDArray[Any]]], None], tell: Callable[[str], None]
    ) -> list[NDArray[Any]]:
        """The arrays under a key, mapped into memory; `fill` writes them where they are not there yet."""
        place = self.folder / key
        if (found := _open(place, shape)) is not None:
            with suppress(FileNotFoundError):  # another process made room just now; what is mapped stays
                os.utime(place / _META)
            return found
        self._make_room(shape.n_bytes)
        shutil.rmtree(place, ignore_errors=True)  # it is damaged, if it is there
        if shape.n_bytes >= _WORTH_SAYING:
            tell(f"{_size(shape.n_bytes)} of the encoder's layers will be kept in {self.folder}")
        with ExitStack() as until_moved, new_folder(place, force=True) as temporary:
            until_moved.enter_context(_held(temporary))
            made = [_new(temporary / _name(number), shape) for number in range(shape.n_arrays)]
            fill(list(made))
            for array in made:
                array.flush()
            write_file(temporary / _META, json.dumps({"bytes": shape.n_bytes}))
        return _open(place, shape) or list(made)

    def _make_room(self, n_bytes: int) -> None:
        if n_bytes > self.bound:
            raise Mistake(
                f"The frozen layers of this text take {_size(n_bytes)}; the cache holds {_size(self.bound)}. Read "
                "fewer of them (layers='top'), keep them as float16, or raise the bound with POLYSEME_CACHE_GB."
            )
        kept = n_bytes
        for unfinished in self.folder.glob(".*"):
            if _is_left_behind(unfinished):
                shutil.rmtree(unfinished, ignore_errors=True)
            kept += _n_bytes(unfinished)
        for meta in sorted(self.folder.glob(f"[!.]*/{_META}"), key=_used, reverse=True):
            kept += _n_bytes(meta.parent)
            if kept > self.bound:
                _remove(meta.parent)


def _remove(place: Path) -> None:
    """In one step, so that a kill leaves either all of it or what the next run clears away."""
    gone = place.with_name(f".{place.name}.gone")
    with suppress(OSError):  # another process was faster
        place.replace(gone)
    shutil.rmtree(gone, ignore_errors=True)


def default_store() -> Store:
    """In POLYSEME_CACHE, or where the user's caches are; POLYSEME_CACHE_GB bounds it."""
    base = os.environ.get("POLYSEME_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "polyseme"
    told = os.environ.get("POLYSEME_CACHE_GB", "10")
    try:
        bound = int(float(told) * GIGABYTE)
    except (ValueError, OverflowError):
        raise Mistake(f"POLYSEME_CACHE_GB={told!r} is no number of gigabytes.") from None
    return Store(Path(base).expanduser() / "layers", bound)


def _new(path: Path, shape: Shape) -> np.memmap[Any, Any]:
    """An array that can be written to: its room on the disk is taken now. A map of a file with holes kills the process
    (SIGBUS) when the disk has no room for what is written into them."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=shape.dtype, shape=shape.shape)
    with path.open("rb+") as file:
        try:
            if hasattr(os, "posix_fallocate"):  # not on macOS
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        except OSError as error:
            raise Mistake(
                f"{_size(shape.n_bytes)} of the encoder's layers cannot be kept in {path.parent.parent}: "
                f"{error.strerror}. Make room, choose another place with POLYSEME_CACHE, or do without (cache=false)."
            ) from None
    return array


def _open(place: Path, shape: Shape) -> list[NDArray[Any]] | None:
    if not (place / _META).is_file():
        return None
    arrays = []
    for number in range(shape.n_arrays):
        try:
            array = np.load(place / _name(number), mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None  # damaged: made again
        if array.shape != shape.shape or array.dtype != shape.dtype:
            raise BadFile(f"{place} holds other arrays than its name says. Delete it.")
        arrays.append(array)
    return arrays


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Say that a process is filling this folder, for as long as the process lives."""
    import fcntl  # not on Windows

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _is_left_behind(folder: Path) -> bool:
    """Whether nobody fills it any more; one that was made just now may not be held yet."""
    import fcntl  # not on Windows

    try:
        if time.time() - folder.stat().st_mtime < _JUST_NOW:
            return False
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # moved to its place, or removed by another process
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _n_bytes(folder: Path) -> int:
    """Of its files; another process may be removing them."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def _used(meta: Path) -> float:
    try:
        return meta.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _name(number: int) -> str:
    return f"layer_{number}.npy"


def _size(n_bytes: int) -> str:
    """A size as people say it.

    >>> _size(1_500_000), _size(2_000_000_000)
    ('2 MB', '2.0 GB')
    """
    return f"{n_bytes / GIGABYTE:.1f} GB" if n_bytes >= GIGABYTE else f"{max(1, round(n_bytes / 1e6))} MB"
