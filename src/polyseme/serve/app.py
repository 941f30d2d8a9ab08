"""The routes put together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException as StarletteException
from starlette.routing import Route

from polyseme import __version__
from polyseme.serve import hub, looking, openai, ours, page, refusals, report, tei
from polyseme.serve.guards import Guards
from polyseme.serve.service import Service


def make_app(
    service: Service,
    token: str | None = None,
    hosts: Iterable[str] = (),
    folder: Path = page.FOLDER,
    report_file: Path | None = None,
) -> Guards:
    """The ASGI app; `folder` holds the page, `report_file` is a comparison's."""
    # its pages of documentation would load scripts from elsewhere; /openapi.json is there for any tool
    app = FastAPI(title="polyseme", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    routers = [protocol.routes(service) for protocol in (openai, tei, ours, hub)]
    routers.append(looking.routes(service, report=report_file is not None))
    if report_file is not None:
        routers.append(report.routes(report_file))
    routers.append(_state(service))
    for router in routers:
        app.include_router(router)
    _add_refusals(app)
    if folder.is_dir():
        _add_page(app, page.Page(folder))
    served = [route.path for router in routers for route in router.routes if isinstance(route, Route)]
    return Guards(app, service, token, hosts, served, ["/health", *page.paths(folder)])


def _state(service: Service) -> APIRouter:
    router = APIRouter(tags=["Text Embeddings Inference"])

    @router.get("/health", response_class=Response)
    async def health() -> Response:
        return Response()

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        text = service.metrics.text(service.batcher)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


def _add_page(app: FastAPI, files: page.Page) -> None:
    """Behind all routes: mounted at / it would answer for them where they are asked by another method."""
    app.router.routes.append(Route("/", files, methods=["GET"], include_in_schema=False))
    app.router.default = files


def _add_refusals(app: FastAPI) -> None:
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, StarletteException)
        return refusals.response(request.scope["path"], HTTPException(error.status_code, error.detail, error.headers))

    async def misshapen(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return refusals.response(request.scope["path"], refusals.of_validation(error))

    async def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, refusals.Refusal)
        return refusals.response(request.scope["path"], error)

    async def failed(request: Request, error: Exception) -> Response:
        return refusals.response(request.scope["path"], HTTPException(500, "The server failed. Its log says where."))

    app.add_exception_handler(Exception, failed)
    app.add_exception_handler(StarletteException, refused)
    app.add_exception_handler(refusals.Refusal, plain)
    app.add_exception_handler(RequestValidationError, misshapen)
