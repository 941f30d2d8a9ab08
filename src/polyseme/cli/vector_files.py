"""Files that vectors are written to: npz, npy, parquet and HDF5."""

import json
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import numpy as np

from polyseme.encoders.pretrained import Embedded
from polyseme.errors import MissingExtra, Mistake

Writer = Callable[[Path, Iterable[Embedded]], None]

_ROWS = 1000  # texts written to parquet at a time


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

    The texts are the bytes of a JSON list: an array of strings drops NULs at their ends and makes each as long as the
    longest.
    """
    embedded = list(stream)
    lengths = [one.vectors.shape[-2] for one in embedded]
    np.savez(
        path,
        vectors=_joined(embedded),
        offsets=np.cumsum([0, *lengths]),
        rows=np.array([row for one in embedded for row in one.rows], dtype=np.str_),
        texts=np.frombuffer(json.dumps([one.text.string for one in embedded]).encode(), np.uint8),
    )


def _write_npy(path: Path, stream: Iterable[Embedded]) -> None:
    np.save(path, _joined(list(stream)))


def _joined(embedded: list[Embedded]) -> np.ndarray:
    return np.concatenate([one.vectors for one in embedded], axis=-2) if embedded else np.zeros((0, 0), np.float32)


def _write_hdf5(path: Path, stream: Iterable[Embedded]) -> None:
    """A dataset a text, named by its number as in ELMo's own files, with the text and its rows as attributes."""
    import h5py

    with h5py.File(path, "w") as file:
        for number, one in enumerate(stream):
            dataset = file.create_dataset(str(number), data=one.vectors)
            dataset.attrs["text"] = _storable(one.text.string)
            dataset.attrs["rows"] = [_storable(row) for row in one.rows] or h5py.Empty("S1")


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
    waiting, file = iter(stream), None
    try:
        while block := list(islice(waiting, _ROWS)):
            columns = {
                "text": [_storable(one.text.string) for one in block],
                "rows": [[_storable(row) for row in one.rows] for one in block],
                "vectors": [one.vectors.tolist() for one in block],
            }
            vector = pyarrow.list_(pyarrow.float32())
            rows = pyarrow.list_(vector)
            schema = pyarrow.schema(
                {
                    "text": pyarrow.string(),
                    "rows": pyarrow.list_(pyarrow.string()),
                    "vectors": pyarrow.list_(rows) if block[0].vectors.ndim == 3 else rows,
                }
            )
            file = file or pyarrow.parquet.ParquetWriter(path, schema)
            file.write_table(pyarrow.table(columns, schema=schema))
    finally:
        if file is not None:
            file.close()
