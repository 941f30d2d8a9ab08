"""The protocol of Text Embeddings Inference: /embed, /embed_all, /predict, /similarity, /tokenize, /info."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, Field
from pydantic_core import to_json

from polyseme.serve import works
from polyseme.serve.bodies import JsonRoute, Strings
from polyseme.serve.embedding import Asked, embed, prompt_of, read
from polyseme.serve.info import info_of
from polyseme.serve.models import Model
from polyseme.serve.pieces import Side
from polyseme.serve.predicting import CLASSIFYING, n_chances, predict
from polyseme.serve.refusals import PROBLEMS, Refusal
from polyseme.serve.replies import numbers, reply, value, values
from polyseme.serve.service import Service
from polyseme.serve.tokens import Token, tokens
from polyseme.types import Prediction


def _lower(given: Any) -> Any:
    return given.lower() if isinstance(given, str) else given


AnySide = Annotated[Side, BeforeValidator(_lower)]  # Text Embeddings Inference says "Left", huggingface_hub "left"
Pair = Annotated[list[str], Field(min_length=1, max_length=2, fail_fast=True)]


class Cutting(BaseModel):
    """What becomes of long texts, and which model reads them."""

    truncate: bool | None = None
    truncation_direction: AnySide = "right"
    prompt_name: str | None = None
    model: str | None = None  # of those served; the first that can, if none is named


class EmbedRequest(Cutting):
    """Texts to one vector each."""

    inputs: str | Strings
    normalize: bool = True
    dimensions: Annotated[int, Field(ge=1)] | None = None


class EmbedAllRequest(Cutting):
    """Texts to a vector a token."""

    inputs: str | Strings


class PredictRequest(BaseModel):
    """A text, a pair of texts [a, b], or a batch of them [[a], [a, b], …] to the chances of classes."""

    inputs: str | Pair | Annotated[list[Pair], Field(min_length=1, fail_fast=True)]
    raw_scores: bool = False
    truncate: bool | None = None
    model: str | None = None


class Chance(BaseModel):
    """A class and its probability."""

    score: float
    label: str


class Sentences(BaseModel):
    """One text, and those it is compared with."""

    source_sentence: str
    sentences: Strings


class SimilarityParameters(BaseModel):
    """What becomes of long texts."""

    truncate: bool | None = None
    truncation_direction: AnySide = "right"
    prompt_name: str | None = None


class SimilarityRequest(BaseModel):
    """How alike one text is to others."""

    inputs: Sentences
    parameters: SimilarityParameters | None = None
    model: str | None = None


class TokenizeRequest(BaseModel):
    """Texts to tokens."""

    inputs: str | Strings
    add_special_tokens: bool = True
    prompt_name: str | None = None
    model: str | None = None


_VECTORS, _ALL = list[list[float]], list[list[list[float]]]


def routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=JsonRoute, tags=["Text Embeddings Inference"], responses=PROBLEMS)

    @router.post("/embed", responses={200: {"model": _VECTORS}})
    async def embed_texts(body: EmbedRequest, request: Request) -> Response:
        return await embed_reply(service, request, body)

    @router.post("/embed_all", responses={200: {"model": _ALL}})
    async def embed_all(body: EmbedAllRequest, request: Request) -> Response:
        model = service.models.any(body.model)
        texts, asked = _texts(body.inputs), _asked(body)
        work = model.reading(works.piece_vectors)
        found, n_tokens = await read(service, request, model, texts, asked, work, model.width)
        return await reply(lambda: b"[" + b",".join(map(numbers, found)) + b"]", n_tokens * model.width)

    @router.post("/predict", responses={200: {"model": list[Chance] | list[list[Chance]]}})
    async def predict_classes(body: PredictRequest, request: Request) -> Response:
        if body.raw_scores:
            raise Refusal(413, "raw_scores=true is not known here: scores are probabilities. Leave it out.")
        given, single = _examples(body.inputs)
        model = classifier(service, body.model)
        said = await predict(service, request, model, given, cut=body.truncate)
        return await chances_reply(model, said, single)

    @router.post("/similarity", responses={200: {"model": list[float]}})
    async def similarity(body: SimilarityRequest, request: Request) -> Response:
        return await similarity_reply(service, request, body)

    @router.post("/tokenize", responses={200: {"model": list[list[Token]]}})
    async def tokenize(body: TokenizeRequest, request: Request) -> Response:
        return await _tokenize(service, request, body)

    @router.get("/info")
    async def info() -> Response:
        return value(info_of(service))

    return router


async def embed_reply(service: Service, request: Request, body: EmbedRequest) -> Response:
    model, texts = service.models.any(body.model), _texts(body.inputs)
    vectors, _ = await embed(service, request, model, texts, _asked(body, body.normalize, body.dimensions))
    return await reply(lambda: numbers(vectors), vectors.size)


async def similarity_reply(service: Service, request: Request, body: SimilarityRequest) -> Response:
    """Cosines."""
    chosen = body.parameters or SimilarityParameters()
    asked = Asked(True, None, chosen.truncate, chosen.truncation_direction, chosen.prompt_name)
    texts = [body.inputs.source_sentence, *body.inputs.sentences]
    vectors, _ = await embed(service, request, service.models.any(body.model), texts, asked)
    return value(np.clip(vectors[1:] @ vectors[0], -1, 1).tolist())


def classifier(service: Service, name: str | None) -> Model:
    return service.models.find(name, lambda model: model.task in CLASSIFYING, "not fitted to classes or numbers")


async def chances_reply(
    model: Model, said: list[Prediction], single: bool = False, most: int | None = None
) -> Response:
    """The likeliest classes of each input, in a thread where there are many."""

    def make() -> bytes:
        found = [_chances(one)[:most] for one in said]
        return to_json(found[0] if single else found, inf_nan_mode="null")

    return await reply(make, n_chances(model, len(said)))


def _chances(said: Prediction) -> list[dict[str, Any]]:
    """The likeliest class first; a number where that is what the model says."""
    if said.scores is None:
        return [{"score": said.label, "label": "LABEL_0"}]
    ordered = sorted(said.scores.items(), key=lambda pair: -pair[1])
    return [{"score": chance, "label": label} for label, chance in ordered]


async def _tokenize(service: Service, request: Request, body: TokenizeRequest) -> Response:
    model = service.models.any(body.model)
    texts = [prompt_of(model, body.prompt_name) + text for text in _texts(body.inputs)]
    n_characters = service.check_texts(texts)
    found = await service.prepared(request, n_characters, lambda: tokens(model, texts, body.add_special_tokens))
    sizes = [len(row) for row in found]
    service.check_sizes(sizes)
    n_values = sum(sizes) * len(Token.model_fields)
    service.check_numbers(n_values)
    return await values(found, n_values)


def _texts(inputs: str | list[str]) -> list[str]:
    return [inputs] if isinstance(inputs, str) else inputs


def _asked(body: Cutting, normalise: bool = True, width: int | None = None) -> Asked:
    return Asked(normalise, width, body.truncate, body.truncation_direction, body.prompt_name)


def _examples(inputs: str | Sequence[str] | Sequence[Sequence[str]]) -> tuple[list[Any], bool]:
    """Texts and tuples of two, and whether it is one alone."""
    if isinstance(inputs, str):
        return [inputs], True
    if isinstance(inputs[0], str):
        return [_example([text for text in inputs if isinstance(text, str)])], True
    return [_example(list(one)) for one in inputs], False


def _example(texts: list[str]) -> Any:
    return texts[0] if len(texts) == 1 else tuple(texts)
