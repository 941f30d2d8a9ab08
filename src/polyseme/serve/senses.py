"""One word in several texts: how alike its vectors are, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json

from polyseme.errors import listed
from polyseme.lens.in_context import directions
from polyseme.serve import works
from polyseme.serve.bodies import Strings
from polyseme.serve.examples import encoded, examples
from polyseme.serve.refusals import Refusal
from polyseme.serve.replies import numbers, reply
from polyseme.serve.service import Service
from polyseme.serve.works import Array
from polyseme.text.words import to_text
from polyseme.types import Text


class SensesRequest(BaseModel):
    """A word, and texts in which it occurs; `forms` are other spellings that count as it."""

    word: Annotated[str, Field(min_length=1)]
    inputs: Strings
    forms: Annotated[list[str], Field(max_length=100, fail_fast=True)] = []
    model: str | None = None


class Occurrence(BaseModel):
    """Where the word stands: inputs[text][start:end]."""

    text: int
    start: int
    end: int


class SensesReply(BaseModel):
    """The occurrences, and for each layer, bottom first, the cosines of all with all."""

    occurrences: list[Occurrence]
    layers: list[list[list[float]]]


async def senses(service: Service, request: Request, body: SensesRequest) -> Response:
    n_characters = service.check_texts(body.inputs)
    model = service.models.any(body.model)
    texts = await service.prepared(request, n_characters, lambda: [to_text(one) for one in body.inputs])
    places = _places(texts, {form.casefold() for form in (body.word, *body.forms)})
    n_found = sum(map(len, places))
    n_numbers = n_found * n_found * len(model.pretrained.encoder.widths)
    service.check_numbers(n_numbers)
    inputs = await service.prepared(request, n_characters, lambda: encoded(model.pretrained, texts))
    sizes = inputs.lengths.tolist()
    service.check_sizes(sizes)
    found = await service.results(request, model.reading(works.chosen_words), examples(inputs, places), sizes)
    return await reply(lambda: _reply(texts, places, found), n_numbers)


def _places(texts: Sequence[Text], forms: set[str]) -> list[list[int]]:
    """The numbers of the words that are one of the forms, in each text."""
    places = []
    for number, text in enumerate(texts):
        found = [place for place, word in enumerate(text.words) if word.casefold() in forms]
        if not found:
            shown = listed([word[:40] for word in text.words])
            raise Refusal(422, f"The word is not in input {number}, whose words are: {shown}. Name its form in forms.")
        places.append(found)
    return places


def _reply(texts: Sequence[Text], places: Sequence[Sequence[int]], found: Sequence[Sequence[Array]]) -> bytes:
    occurrences: list[dict[str, Any]] = [
        {"text": number, "start": text.spans[place][0], "end": text.spans[place][1]}
        for number, (text, some) in enumerate(zip(texts, places, strict=True))
        for place in some
    ]
    layers = [numbers(_cosines(directions(np.concatenate(layer)))) for layer in zip(*found, strict=True)]
    return b'{"occurrences":%b,"layers":[%b]}' % (to_json(occurrences), b",".join(layers))


def _cosines(rows: Array) -> Array:
    cosines: Array = np.clip(rows @ rows.T, -1, 1)
    return cosines
