"""Texts as the tokens a model reads, to show to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from polyseme.serve.models import Model
from polyseme.text.bags import BagTokenizer
from polyseme.text.surrogates import encodable
from polyseme.text.tokenizer import Tokenizer
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text
from polyseme.types import Text


class Token(BaseModel):
    """A token: its number where it has one, and where it stands in the text where it stands there."""

    id: int | None
    text: str
    special: bool
    start: int | None
    stop: int | None


def tokens(model: Model, texts: Sequence[str], special: bool) -> list[list[dict[str, Any]]]:
    """What has a vector each in /embed_all: WordPiece's pieces, or words and the marks of encoders that read words."""
    tokenizer = model.pretrained.tokenizer
    if not isinstance(tokenizer, WordPiece):
        rows = [_words(tokenizer, to_text(text)) for text in texts]
        return rows if special else [[one for one in row if not one["special"]] for row in rows]
    rows = [_pieces(tokenizer, text) for text in texts]
    if not special:
        return rows
    first, last = (_special(tokenizer, tokenizer.id_of(name)) for name in ("cls", "sep"))
    return [[first, *row, last] for row in rows]


def _pieces(tokenizer: WordPiece, text: str) -> list[dict[str, Any]]:
    encoded = tokenizer.backend.encode(encodable(text), add_special_tokens=False)
    return [
        _token(number, text[start:stop], (start, stop))
        for number, (start, stop) in zip(encoded.ids, encoded.offsets, strict=True)
    ]


def _special(tokenizer: WordPiece, number: int) -> dict[str, Any]:
    return _token(number, tokenizer.piece(number), None)


def _words(tokenizer: Tokenizer, text: Text) -> list[dict[str, Any]]:
    """A mark that belongs to no word is special; one that does stands where its word stands."""
    if isinstance(tokenizer, BagTokenizer):  # it has no marks, nor names for pieces
        return [_token(None, word, span) for word, span in zip(text.words, text.spans, strict=True)]
    batch = tokenizer.encode([text])
    spelled = batch.spellings is not None  # then its ids number the words of this text alone
    rows = zip(batch.ids.tolist(), tokenizer.pieces(batch), batch.words.tolist(), strict=True)
    return [
        _token(None if spelled else number, piece, text.spans[word] if word >= 0 else None)
        for number, piece, word in rows
    ]


def _token(number: int | None, text: str, span: tuple[int, int] | None) -> dict[str, Any]:
    start, stop = span or (None, None)
    return {"id": number, "text": text, "special": span is None, "start": start, "stop": stop}
