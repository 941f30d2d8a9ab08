"""OpenAI's protocol: /v1/embeddings and /v1/models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json

from polyseme.serve.bodies import JsonRoute, NumberRows, Numbers, Strings
from polyseme.serve.embedding import Asked, Given, embed
from polyseme.serve.models import Model
from polyseme.serve.replies import base64_of, numbers, reply, value
from polyseme.serve.service import Service
from polyseme.serve.works import Array


class EmbeddingsRequest(BaseModel):
    """Texts, or the ids of their pieces, to vectors of length 1."""

    input: str | Strings | Numbers | NumberRows
    model: str
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1)] | None = None
    user: str | None = None


class Embedding(BaseModel):
    """The vector of one input."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """How many tokens were read."""

    prompt_tokens: int
    total_tokens: int


class Embeddings(BaseModel):
    """The vectors of all inputs, in order."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class ModelFacts(BaseModel):
    """A model that is served."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(BaseModel):
    """All models that are served."""

    object: Literal["list"]
    data: list[ModelFacts]


class Problem(BaseModel):
    """What is wrong with a request."""

    message: str
    type: str
    param: str | None
    code: str | None


class ProblemReply(BaseModel):
    """OpenAI's shape of an error."""

    error: Problem


_PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": {"model": ProblemReply}, "5XX": {"model": ProblemReply}}


def routes(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1", route_class=JsonRoute, tags=["OpenAI"], responses=_PROBLEMS)

    @router.post("/embeddings", responses={200: {"model": Embeddings}})
    async def embeddings(body: EmbeddingsRequest, request: Request) -> Response:
        model = service.models.named(body.model)
        vectors, n_tokens = await embed(service, request, model, _given(body.input), Asked(width=body.dimensions))
        return await reply(lambda: _reply(vectors, body.encoding_format, model.name, n_tokens), vectors.size)

    @router.get("/models", responses={200: {"model": ModelList}})
    async def models() -> Response:
        return value({"object": "list", "data": [_facts(model) for model in service.models]})

    @router.get("/models/{name:path}", responses={200: {"model": ModelFacts}})
    async def model(name: str) -> Response:
        return value(_facts(service.models.named(name)))

    return router


def _given(sent: Any) -> Given:
    """A single text or a single list of ids is a list of one."""
    return [sent] if isinstance(sent, str) or isinstance(sent[0], int) else sent


def _reply(vectors: Array, form: str, model: str, n_tokens: int) -> bytes:
    write = base64_of if form == "base64" else numbers
    rows = [
        b'{"object":"embedding","index":%d,"embedding":%b}' % (place, write(row)) for place, row in enumerate(vectors)
    ]
    usage = b'{"prompt_tokens":%d,"total_tokens":%d}' % (n_tokens, n_tokens)
    return b'{"object":"list","data":[%b],"model":%b,"usage":%b}' % (b",".join(rows), to_json(model), usage)


def _facts(model: Model) -> dict[str, Any]:
    return {"id": model.name, "object": "model", "created": model.created, "owned_by": "polyseme"}
