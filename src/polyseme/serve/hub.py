"""POST /: what huggingface_hub's InferenceClient sends to a server it is given the address of."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from polyseme.serve.bodies import JsonRoute, Strings
from polyseme.serve.predicting import CLASSIFYING, predict
from polyseme.serve.refusals import PROBLEMS
from polyseme.serve.service import Service
from polyseme.serve.tei import EmbedRequest, Sentences, SimilarityRequest, chances_reply, embed_reply, similarity_reply


class Parameters(BaseModel):
    """What the task's own arguments are."""

    top_k: Annotated[int, Field(ge=1)] | None = None


class HubRequest(EmbedRequest):
    """Texts for the first model to embed or to classify, or sentences to compare."""

    inputs: str | Strings | Sentences  # type: ignore[assignment]
    parameters: Parameters | None = None


def routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=JsonRoute, tags=["huggingface_hub"], responses=PROBLEMS)

    @router.post("/", responses={200: {"model": list[Any]}})
    async def root(body: HubRequest, request: Request) -> Response:
        """The first model says which task it is, unless sentences are to be compared."""
        if isinstance(body.inputs, Sentences):
            return await similarity_reply(service, request, SimilarityRequest(inputs=body.inputs, model=body.model))
        model = service.models.any(body.model)
        if model.task not in CLASSIFYING:
            return await embed_reply(service, request, EmbedRequest(**body.model_dump()))
        texts = [body.inputs] if isinstance(body.inputs, str) else body.inputs
        most = body.parameters.top_k if body.parameters else None
        said = await predict(service, request, model, texts, cut=body.truncate)
        return await chances_reply(model, said, most=most)

    return router
