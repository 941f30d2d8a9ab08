"""Texts as the tokens a model reads, to show to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from polyseme.serve.models import Model
from polyseme.text.surrogates import encodable
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text


class Token(BaseModel):
    """A token: its number where it has one, and where it stands in the text where it stands there."""

    id: int | None
    text: str
    special: bool
    start: int | None
    stop: int | None


def tokens(model: Model, texts: Sequence[str], special: bool) -> list[list[dict[str, Any]]]:
    """WordPiece's pieces; of encoders that read whole words, the words."""
    tokenizer = model.pretrained.tokenizer
    if not isinstance(tokenizer, WordPiece):
        return [_words(text) for text in texts]
    rows = [_pieces(tokenizer, text) for text in texts]
    if not special:
        return rows
    first, last = (_special(tokenizer, tokenizer.id_of(name)) for name in ("cls", "sep"))
    return [[first, *row, last] for row in rows]


def _pieces(tokenizer: WordPiece, text: str) -> list[dict[str, Any]]:
    encoded = tokenizer.backend.encode(encodable(text), add_special_tokens=False)
    return [
        {"id": number, "text": text[start:stop], "special": False, "start": start, "stop": stop}
        for number, (start, stop) in zip(encoded.ids, encoded.offsets, strict=True)
    ]


def _special(tokenizer: WordPiece, number: int) -> dict[str, Any]:
    return {"id": number, "text": tokenizer.piece(number), "special": True, "start": None, "stop": None}


def _words(string: str) -> list[dict[str, Any]]:
    text = to_text(string)
    return [
        {"id": None, "text": word, "special": False, "start": start, "stop": stop}
        for word, (start, stop) in zip(text.words, text.spans, strict=True)
    ]
