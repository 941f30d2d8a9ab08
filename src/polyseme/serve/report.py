"""The report of a comparison at /report: a page of its own, which can reach nothing of this server."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Response
from starlette.responses import FileResponse

from polyseme.errors import Mistake
from polyseme.serve.refusals import Refusal

HEADERS = {
    # its script and style stand in the file itself; in a sandbox it has no origin, so nothing here is its own
    "Content-Security-Policy": (
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def find(path: Path) -> Path:
    """The report's file, which may be named by its folder."""
    file = path / "report.html" if path.is_dir() else path
    if not file.is_file():
        raise Mistake(f"There is no report at {file}. Make one: polyseme compare TASK DATA --out {path}")
    return file


def routes(file: Path) -> APIRouter:
    router = APIRouter(tags=["polyseme"])

    @router.get("/report", response_class=Response, responses={200: {"content": {"text/html": {}}}})
    async def report() -> Response:
        if not file.is_file():
            raise Refusal(404, "The report is not there any more.")
        return FileResponse(file, headers=HEADERS, media_type="text/html; charset=utf-8")

    return router
