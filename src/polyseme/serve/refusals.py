"""Requests that are not granted, said in the words of the protocol they came in."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from pydantic_core import to_json

# status: what Text Embeddings Inference calls it, what OpenAI calls it
_NAMES = {
    400: ("Empty", "invalid_request_error"),
    401: ("Unauthorized", "authentication_error"),
    404: ("NotFound", "invalid_request_error"),
    405: ("Validation", "invalid_request_error"),
    408: ("Validation", "invalid_request_error"),
    413: ("Validation", "invalid_request_error"),
    415: ("Validation", "invalid_request_error"),
    421: ("Validation", "invalid_request_error"),
    422: ("Tokenizer", "invalid_request_error"),
    424: ("Backend", "server_error"),
    429: ("Overloaded", "rate_limit_error"),
    431: ("Validation", "invalid_request_error"),
    503: ("Unhealthy", "server_error"),
    504: ("Overloaded", "server_error"),
}


class ErrorReply(BaseModel):
    """The shape of an error outside /v1."""

    error: str
    error_type: str


PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorReply}, "5XX": {"model": ErrorReply}}


class Refusal(HTTPException):
    """What is wrong with a request, and the HTTP status that says so; `kind` and `code` name it more exactly."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str | None = None,
        code: str | None = None,
        param: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, headers)
        self.kind, self.code, self.param = kind, code, param


def overloaded(seconds: int) -> Refusal:
    return Refusal(
        429,
        f"The model is overloaded: too many tokens are waiting. Try again in {seconds} s.",
        code="rate_limit_exceeded",
        headers={"Retry-After": str(seconds)},
    )


def body_of(path: str, status: int, message: str, refusal: Refusal | None = None) -> bytes:
    """The JSON of a refusal: OpenAI's shape under /v1, that of Text Embeddings Inference elsewhere."""
    ours, theirs = _NAMES.get(status, ("Backend", "server_error"))
    if path.startswith("/v1/"):
        code = refusal.code if refusal else None
        error = {"message": message, "type": theirs, "param": refusal.param if refusal else None, "code": code}
        return to_json({"error": error})
    return to_json({"error": message, "error_type": (refusal.kind if refusal else None) or ours})


def response(path: str, error: HTTPException) -> Response:
    status, refusal = error.status_code, error if isinstance(error, Refusal) else None
    if refusal and path.startswith("/v1/") and status in (413, 422):
        status = 400  # OpenAI has one status for all that is wrong with a request
    content = body_of(path, status, str(error.detail), refusal)
    headers = dict(error.headers or {})
    return Response(content, status, headers, "application/json")


def of_validation(error: RequestValidationError) -> Refusal:
    """A body of the wrong shape. What was sent is not repeated: it may be long, and somebody's."""
    errors: list[dict[str, Any]] = [dict(one) for one in error.errors()]
    field = errors[0]["loc"][:2]  # a field that may be one of several things has an error for each of them
    said = list(dict.fromkeys(one["msg"] for one in errors if one["loc"][:2] == field))
    place = ".".join(str(part) for part in field if part != "body") or "the body"
    return Refusal(422, f"{place}: {', or '.join(said[:4])}.", param=place)
