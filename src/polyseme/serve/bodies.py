"""JSON bodies, read strictly: UTF-8, no NaN, no depth beyond reason, and said to be JSON."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import Field, StrictInt
from pydantic_core import from_json

from polyseme.serve.refusals import Refusal

# a list of the wrong kind is left at its first item: a message for each of a million would take seconds
Strings = Annotated[list[str], Field(min_length=1, fail_fast=True)]
Numbers = Annotated[list[Annotated[StrictInt, Field(ge=0)]], Field(min_length=1, fail_fast=True)]
NumberRows = Annotated[list[Numbers], Field(min_length=1, fail_fast=True)]


class JsonRequest(Request):
    """A request whose body is parsed by pydantic's parser, which has a limit of depth."""

    async def json(self) -> Any:
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise Refusal(400, f"The body is not JSON: {error}.", kind="Validation") from None


class JsonRoute(APIRoute):
    """A route whose bodies are JSON alone: a page of another origin cannot send that without being asked about."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            if request.method == "POST" and not _is_json(request.headers.get("content-type", "")):
                raise Refusal(415, "The body is to be JSON. Send the header Content-Type: application/json.")
            return await handle(JsonRequest(request.scope, request.receive))

        return strict


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"
