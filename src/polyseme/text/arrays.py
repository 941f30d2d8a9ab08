"""One-dimensional .npy files that are written by and by, and read through memory maps."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from polyseme.errors import BadFile

_HEADER = 128  # bytes, wherever the data begins: room for any length
_BLOCK = 1 << 20


class Growing:
    """A file to append to; its header is written at the end, when the length is known."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.n = 0
        self._file = path.open("wb")
        self._file.write(b" " * _HEADER)

    def append(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        self.n += len(values)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._file.seek(0)
            self._file.write(_header(self.dtype, self.n))
        self._file.close()


def write(path: Path, values: NDArray[Any]) -> None:
    with Growing(path, values.dtype) as file:
        file.append(values)


def blocks(path: Path, dtype: DTypeLike) -> Iterator[NDArray[Any]]:
    """The values of a file that `Growing` wrote, some at a time, without a map: a map's pages count as memory used."""
    with path.open("rb") as file:
        file.seek(_HEADER)
        while len(block := np.fromfile(file, dtype=np.dtype(dtype).newbyteorder("<"), count=_BLOCK)):
            yield block


def mapped(path: Path, dtype: DTypeLike, n: int | None = None) -> NDArray[Any]:
    """The array in a file, which must have n values of that type; None is any number."""
    if not path.is_file():
        raise BadFile(f"No {path.name} in {path.parent}.")
    wanted = np.dtype(dtype)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise BadFile(f"{path} is damaged: {error}.") from None
    if not isinstance(array, np.memmap) or array.dtype != wanted or array.ndim != 1 or n not in (None, len(array)):
        found = f"{array.dtype} {array.shape}" if isinstance(array, np.memmap) else "something else"
        raise BadFile(f"{path} holds {found}; wanted {wanted} ({'any number' if n is None else n},).")
    if path.stat().st_size != array.offset + array.nbytes:
        raise BadFile(f"{path} has bytes behind its {array.size:,} values.")
    return array


def offsets(path: Path, n_rows: int, end: int | None = None) -> NDArray[np.int64]:
    """Where each row begins, mapped; the first must be 0, and the last, where it is known, the end."""
    found = mapped(path, np.int64, n_rows + 1)
    if found[0] != 0 or found[-1] != (found[-1] if end is None else end):
        raise BadFile(f"{path} goes from {found[0]} to {found[-1]}; wanted 0 to {end}.")
    return found


def _header(dtype: np.dtype[Any], n: int) -> bytes:
    """The header of version 1.0 (numpy.lib.format), filled up with spaces."""
    start = b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little")
    shape = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': ({n},), }}".encode()
    return start + shape.ljust(_HEADER - 11) + b"\n"
