"""What is in a folder of shards and where it came from: written when it is whole, read and checked before the rest."""

import json
import unicodedata
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from polyseme.errors import BadFile, listed
from polyseme.files import write_file
from polyseme.text.rows import RowWriter
from polyseme.text.words import RULES

META = "meta.json"

M = TypeVar("M", bound="Meta")


class Meta(Protocol):
    """A frozen dataclass of counts and origins."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def version(self) -> int: ...


def common(writer: RowWriter, options: dict[str, Any], sources: list[dict[str, Any]]) -> dict[str, Any]:
    """What every kind of shards says of itself."""
    return {
        "n_sentences": writer.n_sentences,
        "n_documents": writer.n_documents,
        "n_bytes": writer.n_bytes,
        "rules": RULES,
        "unicode": unicodedata.unidata_version,
        "options": options,
        "sources": sources,
    }


def write(folder: Path, meta: Meta) -> None:
    """Write it as the last file of its folder."""
    write_file(folder / META, json.dumps(asdict(meta), indent=1))


def read(folder: Path, kind: type[M], version: int, counted: tuple[str, ...]) -> M:
    """What a folder says of itself; there must be at least one of each thing that is `counted`."""
    path = folder / META
    if not path.is_file():
        raise BadFile(f"No {META} in {folder}; found {listed(sorted(file.name for file in folder.glob('*')))}.")
    try:
        meta = kind(**json.loads(path.read_bytes()))
    except (ValueError, TypeError) as error:
        raise BadFile(f"{path} is damaged: {error}.") from None
    if meta.version != version:
        raise BadFile(f"{path} is of version {meta.version!r}; this polyseme reads {version}.")
    numbers = tuple(getattr(meta, f"n_{name}") for name in counted)
    if not all(isinstance(number, int) and number > 0 for number in numbers):
        raise BadFile(f"{path} is damaged: its counts of {listed(counted)} are {numbers}.")
    return meta
