"""The tensors of a .pth file, read without running anything in it."""

import re
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from polyseme.errors import BadFile, listed


class _Ignored:
    """Stands for an object beside the weights, of a class that is not installed here and not wanted."""

    def __new__(cls, *_: Any) -> "_Ignored":
        return super().__new__(cls)

    def __setstate__(self, _: Any) -> None:
        pass


# fastai keeps its optimiser's settings in its own lists, and numbers of numpy in them
_BESIDE_WEIGHTS: list[Any] = [
    (_Ignored, name)
    for name in (
        "fastcore.foundation.L",
        "numpy.dtype",
        "numpy.core.multiarray.scalar",
        "numpy._core.multiarray.scalar",
    )
]


# what zipfile raises, by where the damage is
_BAD_ZIP = (OSError, ValueError, NotImplementedError, RuntimeError, zipfile.BadZipFile)


def names_in(path: Path) -> bytes:
    """The part of a .pth file that has the names of its tensors, unread; empty where there is none."""
    try:
        if not zipfile.is_zipfile(path):
            with path.open("rb") as file:
                return file.read(2**20)  # before torch 1.6: the names come first
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith("/data.pkl")]
            return archive.read(entries[0]) if entries and _is_stored(entries[0]) else b""
    except _BAD_ZIP:
        return b""


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Name to tensor: a file is a state dict, or {"model": a state dict, "opt": …}."""
    found = _loaded(path)
    if isinstance(found, dict) and isinstance(found.get("model"), dict):
        found = found["model"]
    if not isinstance(found, dict) or not found:
        raise BadFile(f"{path} holds {type(found).__name__} instead of named tensors. Save a model's state_dict().")
    if wrong := [str(name) for name, value in found.items() if not isinstance(name, str) or not _is_plain(value)]:
        raise BadFile(f"{path} must hold named tensors of numbers; these are none: {listed(wrong)}.")
    return found


def _loaded(path: Path) -> Any:
    is_zip = zipfile.is_zipfile(path)
    if is_zip and not _has_room(path):
        raise BadFile(f"{path} is compressed or damaged; torch.save() writes tensors as they are. Copy it again.")
    try:
        with torch.serialization.safe_globals(_BESIDE_WEIGHTS):
            return torch.load(path, map_location="cpu", weights_only=True, mmap=is_zip)
    except FileNotFoundError:
        raise BadFile(f"There is no file {path}.") from None
    except Exception as problem:  # a damaged file can make the reader fail in any way
        raise BadFile(_why(path, problem)) from None


def _has_room(path: Path) -> bool:
    """Whether an archive's parts lie in it as they are, so that reading takes no more memory than the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return all(_is_stored(entry) for entry in archive.infolist())
    except _BAD_ZIP:
        return False


def _is_stored(entry: zipfile.ZipInfo) -> bool:
    return entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size


def _is_plain(value: Any) -> bool:
    """Whether this is a tensor of numbers that are all there; a file can claim a shape and repeat one number."""
    if type(value) is not Tensor or value.layout != torch.strided or value.is_quantized or value.is_meta:
        return False
    return not value.is_complex() and value.numel() * value.element_size() <= value.untyped_storage().nbytes()


def _why(path: Path, problem: Exception) -> str:
    if named := re.search(r"GLOBAL (\S+)", str(problem)):
        return (
            f"{path} asks for {named[1]}, which weights do not need and which could run code. Nothing was run. "
            "If you trust the file, load it with what wrote it and save the model's state_dict()."
        )
    reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
    return f"{path} cannot be read as a .pth file of tensors: {reason} Copy it again."
