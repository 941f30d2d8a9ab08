"""Named tensors in a folder's safetensors or torch files, their shapes known before memory is taken."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from polyseme.errors import BadFile, listed
from polyseme.formats.pth import read_tensors

_SAFE_FLOATS = {"F16", "BF16", "F32", "F64"}
_INDEX_LIMIT = 100_000_000  # bytes


@dataclass(frozen=True)
class Stored:
    """A tensor that is still in its file."""

    shape: tuple[int, ...]
    dtype: str
    is_float: bool
    read: Callable[[], Tensor]  # as it is in the file, in memory of its own or not

    @classmethod
    def of(cls, tensor: Tensor) -> "Stored":
        """A tensor that is in memory already."""
        return cls(tuple(tensor.shape), str(tensor.dtype), tensor.dtype.is_floating_point, lambda: tensor)


def stored(folder: Path) -> tuple[str, dict[str, Stored]]:
    """The name of the file with a folder's weights, or of the index of its parts, and what is in it."""
    for name, read in _READERS.items():
        if (folder / name).is_file():
            return name, read(folder / name)
    found = sorted(path.name for path in folder.iterdir())
    raise BadFile(f"No weights in {folder}: wanted {listed(_READERS)}. Found: {listed(found)}.")


def _safetensors(path: Path) -> dict[str, Stored]:
    try:
        file: Any = safe_open(path, framework="pt")
        return {name: _of_slice(file, name) for name in file.keys()}  # noqa: SIM118 - it is no dict
    except (SafetensorError, OSError) as error:
        raise BadFile(f"{path} is damaged or no safetensors file: {error}. Copy it again.") from None


def _of_slice(file: Any, name: str) -> Stored:
    header = file.get_slice(name)
    dtype = header.get_dtype()
    return Stored(tuple(header.get_shape()), dtype, dtype in _SAFE_FLOATS, lambda: file.get_tensor(name))


def _torch_file(path: Path) -> dict[str, Stored]:
    return {name: Stored.of(tensor) for name, tensor in read_tensors(path).items()}


def _sharded(read: Callable[[Path], dict[str, Stored]]) -> Callable[[Path], dict[str, Stored]]:
    def read_index(path: Path) -> dict[str, Stored]:
        places = _index(path)
        parts = {name: read(path.parent / name) for name in sorted(set(places.values()))}
        absent = [name for name, part in places.items() if name not in parts[part]]
        if absent:
            raise BadFile(f"{path} names tensors that its parts do not hold: {listed(absent)}. Copy the parts again.")
        return {name: parts[part][name] for name, part in places.items()}

    return read_index


def _index(path: Path) -> dict[str, str]:
    """Which part each tensor is in; every part a file beside the index."""
    if path.stat().st_size > _INDEX_LIMIT:
        raise BadFile(f"{path} has {path.stat().st_size:,} bytes; an index has a few thousand. Copy it again.")
    try:
        places = {str(name): Path(part) for name, part in json.loads(path.read_text("utf-8"))["weight_map"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadFile(f"{path} is no index of parts: it needs a 'weight_map' of tensors and files.") from None
    parts = sorted(set(places.values()))
    absent = [str(part) for part in parts if part != Path(part.name) or not (path.parent / part).is_file()]
    if absent:
        raise BadFile(f"{path} names parts that are not beside it: {listed(absent)}. Copy them there.")
    return {name: part.name for name, part in places.items()}


_READERS: dict[str, Callable[[Path], dict[str, Stored]]] = {
    "model.safetensors": _safetensors,
    "model.safetensors.index.json": _sharded(_safetensors),
    "pytorch_model.bin": _torch_file,
    "pytorch_model.bin.index.json": _sharded(_torch_file),
}
