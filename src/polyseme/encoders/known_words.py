"""Vectors of words met before, so that a token encoder whose parameters rest reads each word once."""

from collections.abc import Callable
from itertools import pairwise
from threading import Lock

import torch
from torch import Tensor

from polyseme.layers.char_cnn import CharCnn
from polyseme.layers.prepared import can_prepare, prepared
from polyseme.text.batches import take_rows
from polyseme.types import Packed

_BYTES = 64 << 20  # for the vectors of one encoder: 32,768 words at a width of 512


def word_vectors(encoder: CharCnn, spellings: Packed) -> Tensor:
    """(words, width): what the encoder gives, from memory where it gave it before with the same parameters."""
    if spellings.values.device.type != "cpu" or not can_prepare(encoder):
        return encoder(spellings)  # type: ignore[no-any-return]
    known = prepared(encoder, "words", lambda: KnownWords(encoder.width, encoder.characters.dtype))
    return known.vectors(spellings, encoder)


class KnownWords:
    """A table of word vectors by spelling, of bounded size; any thread may ask it."""

    def __init__(self, width: int, dtype: torch.dtype, capacity: int | None = None) -> None:
        self.capacity = max(1, _BYTES // (width * dtype.itemsize)) if capacity is None else capacity
        with torch.inference_mode(False):  # what is made in inference mode could not be written to outside of it
            self._table = torch.empty(self.capacity, width, dtype=dtype)
        self._places: dict[bytes, int] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._places)

    def vectors(self, spellings: Packed, encode: Callable[[Packed], Tensor]) -> Tensor:
        """(words, width); `encode` is asked for the unknown words only."""
        keys = _keys(spellings)
        with self._lock:
            places = torch.tensor([self._places.get(key, -1) for key in keys], dtype=torch.int64)
            vectors = self._table[places.clamp(min=0)]
        unknown = (places < 0).nonzero().flatten()
        if len(unknown):
            vectors[unknown] = new = encode(take_rows(spellings, unknown))
            self._add([keys[place] for place in unknown.tolist()], new)
        return vectors

    def _add(self, keys: list[bytes], vectors: Tensor) -> None:
        with self._lock:
            if len(self._places) + len(keys) > self.capacity:
                self._places.clear()  # the frequent words are back soon, and no order of use need be kept
            rows = {key: row for row, key in enumerate(keys[: self.capacity]) if key not in self._places}
            first = len(self._places)
            self._places.update(zip(rows, range(first, first + len(rows)), strict=True))
            self._table[first : first + len(rows)] = vectors[list(rows.values())]


def _keys(spellings: Packed) -> list[bytes]:
    raw, size = spellings.values.numpy().tobytes(), spellings.values.element_size()
    return [raw[start * size : end * size] for start, end in pairwise(spellings.offsets.tolist())]
