"""Files that vectors are written to: npz, npy, parquet and HDF5."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from polyseme.encoders.pretrained import Embedded
from polyseme.errors import MissingExtra, Mistake

Writer = Callable[[Path, Iterable[Embedded]], None]

_NUMBERS = 1 << 22  # of vectors that are written to parquet at a time, and a text more


def writer(path: Path, level: str) -> Writer:
    """The function that writes a stream of vectors to a file of this name."""
    writers: dict[str, Writer] = {
        ".npz": _write_npz,
        ".npy": _write_npy,
        ".parquet": _write_parquet,
        ".h5": _write_hdf5,
        ".hdf5": _write_hdf5,
    }
    if path.suffix not in writers:
        raise Mistake(f"Vectors go to a file that ends in {', '.join(writers)}; found {path.name!r}.")
    if path.suffix == ".npy" and level != "text":
        raise Mistake(
            f"A .npy file holds one array; level={level!r} gives as many as there are texts. Use .npz or .h5."
        )
    return writers[path.suffix]


def _write_npz(path: Path, stream: Iterable[Embedded]) -> None:
    """`vectors` of all rows, `offsets` where each text's begin, `rows`, the words or pieces, and `texts`.

    The last two are the bytes of a JSON list: an array of strings drops NULs at their ends and makes each as long as
    the longest.
    """
    embedded = list(stream)
    lengths = [one.vectors.shape[-2] for one in embedded]
    np.savez(
        path,
        vectors=_joined(embedded),
        offsets=np.cumsum([0, *lengths]),
        rows=_as_json([row for one in embedded for row in one.rows]),
        texts=_as_json([one.text.string for one in embedded]),
    )


def _as_json(strings: list[str]) -> np.ndarray:
    return np.frombuffer(json.dumps(strings).encode(), np.uint8)


def _write_npy(path: Path, stream: Iterable[Embedded]) -> None:
    np.save(path, _joined(list(stream)))


def _joined(embedded: list[Embedded]) -> np.ndarray:
    return np.concatenate([one.vectors for one in embedded], axis=-2) if embedded else np.zeros((0, 0), np.float32)


def _write_hdf5(path: Path, stream: Iterable[Embedded]) -> None:
    """A dataset a text, named by its number as in ELMo's own files, with the text and its rows as attributes.

    The rows are a JSON list in one string: HDF5 has room for 4,000 strings in an attribute, but for a string of any
    length.
    """
    import h5py

    with h5py.File(path, "w") as file:
        for number, one in enumerate(stream):
            dataset = file.create_dataset(str(number), data=one.vectors)
            dataset.attrs["text"] = _storable(one.text.string)
            dataset.attrs["rows"] = json.dumps(one.rows)


def _storable(string: str) -> str:
    """HDF5 strings hold neither NULs nor lone surrogates."""
    return string.replace("\0", "\ufffd").encode(errors="replace").decode()


def _write_parquet(path: Path, stream: Iterable[Embedded]) -> None:
    """A row a text: text, rows, vectors (a list a row; with all layers, a list of those a layer)."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "data", "Writing parquet") from None
    file = None
    try:
        for block in _blocks(stream):
            words = [[_storable(row) for row in one.rows] for one in block]
            columns = {
                "text": pyarrow.array([_storable(one.text.string) for one in block], pyarrow.string()),
                "rows": pyarrow.array(words, pyarrow.list_(pyarrow.string())),
                "vectors": _lists([one.vectors for one in block]),
            }
            table = pyarrow.table(columns)
            file = file or pyarrow.parquet.ParquetWriter(path, table.schema)
            file.write_table(table)
    finally:
        if file is not None:
            file.close()


def _blocks(stream: Iterable[Embedded]) -> Iterator[list[Embedded]]:
    block, n_numbers = [], 0
    for one in stream:
        block.append(one)
        n_numbers += one.vectors.size
        if n_numbers >= _NUMBERS:
            yield block
            block, n_numbers = [], 0
    if block:
        yield block


def _lists(arrays: list[np.ndarray]) -> Any:
    """Arrays as lists in lists, without a Python object a number."""
    import pyarrow

    lists = pyarrow.array(np.concatenate([array.ravel() for array in arrays]))
    shapes = [array.shape for array in arrays]
    for axis in reversed(range(len(shapes[0]))):
        lengths = [shape[axis] for shape in shapes for _ in range(math.prod(shape[:axis]))]
        lists = pyarrow.ListArray.from_arrays(np.cumsum([0, *lengths], dtype=np.int32), lists)
    return lists
