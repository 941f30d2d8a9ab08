"""Arrays and values as JSON, without keeping others waiting."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

from fastapi.responses import Response
from numpy.typing import NDArray
from pydantic_core import to_json

from polyseme.types import Text

_AT_ONCE = 20_000  # numbers that are written in a millisecond or two; more go to a thread


def numbers(array: NDArray[Any]) -> bytes:
    """A JSON array of arrays. pydantic's writer takes a tenth of json's time; row by row, other threads get a turn."""
    if array.ndim == 1:
        return to_json(array.tolist(), inf_nan_mode="null")
    return b"[" + b",".join(numbers(row) for row in array) + b"]"


def base64_of(vector: NDArray[Any]) -> bytes:
    """A JSON string of little-endian float32."""
    return b'"' + base64.b64encode(vector.astype("<f4", copy=False).tobytes()) + b'"'


async def reply(make: Callable[[], bytes], n_numbers: int = 0) -> Response:
    """The JSON that `make` writes; in a thread where that takes long."""
    content = make() if n_numbers <= _AT_ONCE else await asyncio.to_thread(make)
    return Response(content, media_type="application/json")


async def values(content: Any, n_values: int) -> Response:
    """Something that may be large: so many strings and numbers."""
    return await reply(lambda: to_json(content, inf_nan_mode="null"), n_values)


def value(content: Any) -> Response:
    """Something small."""
    return Response(to_json(content, inf_nan_mode="null"), media_type="application/json")


def shown(text: Text) -> dict[str, Any]:
    """The words of a text and where they stand."""
    return {"words": text.words, "spans": text.spans}
