"""The page at /: a folder of static files, which may load and call nothing but this server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "page"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def paths(folder: Path = FOLDER) -> list[str]:
    """What a browser asks for to show the page."""
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return ["/", *(f"/{path.relative_to(folder).as_posix()}" for path in files)]


class Page(StaticFiles):
    """Files with those headers; links out of the folder are not followed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        super().__init__(directory=folder, html=True, follow_symlink=False)

    async def get_response(self, path: str, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD") and not self._has(path):
            raise HTTPException(404)  # rather than 405: nothing is there to be asked in another way
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response

    def _has(self, path: str) -> bool:
        try:
            return self.lookup_path(path)[1] is not None
        except (OSError, ValueError):  # a name that is too long for the file system, or holds a NUL
            return False

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        kind = _TYPES.get(Path(args[0]).suffix)
        if kind and "content-type" in response.headers:  # what the system's own table says of them differs
            response.headers["content-type"] = kind
        return response


_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
