"""What every request passes before its route: host, token, room in the queue, the size of its body."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import time
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polyseme.serve.protocol import END, Head, head_of, raw
from polyseme.serve.refusals import Refusal, body_of, overloaded, response
from polyseme.serve.service import Service, log_place

_MOST_HEADS, _HEAD_BYTES = 256, 2048  # that are remembered, of those no longer than this


class Guards:
    """An ASGI app around another; what it refuses never reaches it."""

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        token: str | None,
        hosts: Iterable[str],
        paths: Iterable[str],
        open_paths: Iterable[str],
    ) -> None:
        self.app, self.service = app, service
        self._paths = frozenset(paths)  # what is served
        self._open = frozenset(open_paths)  # what may be got without a token
        self._token = sha256(token.encode()).digest() if token else None
        self._hosts = {host.lower() for host in hosts} | {"localhost"}
        self._entitled = lru_cache(_MOST_HEADS)(self._entitled_anew)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        headers = dict(scope["headers"])
        body = _Body(receive, self.service.limits.body_bytes, headers, scope["http_version"])
        seen = _Seen(send, body, self.service)
        scope["arrived"] = asyncio.get_running_loop().time()
        try:
            if refusal := self._refusal(scope["method"], scope["path"], headers):
                await response(scope["path"], refusal)(scope, body, seen)
            else:
                await self.app(scope, body, seen)
        except asyncio.CancelledError:  # the server waits no longer, nor for the rest of the body
            body.ended = True
            if not seen.started:
                await response(scope["path"], _ending())(scope, body, seen)
        except Exception as error:  # it was answered with 500; a trace with its message might hold somebody's text
            log_place(error)
        finally:
            route = self._route(scope["path"], scope.get("route"))
            self.service.metrics.request(route, seen.status, time.perf_counter() - start)

    def refused_at_once(self, data: bytes) -> bytes | None:
        """The answer to a request as it came in, if it is that there is no room. Of many times the requests that can be
        served most end here, and are to cost those that are served as little as can be: what a head says is remembered,
        since a client's are all alike, and so is the answer."""
        batcher = self.service.batcher
        if not batcher.full or self.service.draining:
            return None
        end = data.find(END, 0, _HEAD_BYTES)
        head = self._entitled(data[:end]) if end > 0 else None
        if head is None or head.body_bytes != len(data) - end - len(END):
            return None
        self.service.metrics.refused(self._route(head.path))
        return _no_room(head.path, batcher.retry_after)

    def _entitled_anew(self, head: bytes) -> Head | None:
        """What a head says, if nothing but room can be missing."""
        found = head_of(head)
        if found is None or found.method != "POST" or self._forbidden(found.method, found.path, found.headers):
            return None
        return found

    def _refusal(self, method: str, path: str, headers: dict[bytes, bytes]) -> Refusal | None:
        if self.service.draining:
            return _ending()
        if refusal := self._forbidden(method, path, headers):
            return refusal
        if method == "POST" and self.service.batcher.full:  # before anything is read: refusing must be cheap
            return overloaded(self.service.batcher.retry_after)
        return None

    def _forbidden(self, method: str, path: str, headers: dict[bytes, bytes]) -> Refusal | None:
        """What is wrong with a head, whenever it comes."""
        if not self._host_is_ours(headers.get(b"host", b"").decode("latin-1")):
            return Refusal(421, "This server does not answer to that Host. Start it with --allow-host NAME.")
        if self._token and not self._is_open(method, path) and not self._is_known(headers.get(b"authorization", b"")):
            return Refusal(
                401, "This server wants a token: send Authorization: Bearer TOKEN.", code="invalid_api_key",
                headers={"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        if (size := _length(headers)) > self.service.limits.body_bytes:
            return _too_large(size, self.service.limits.body_bytes)
        return None

    def _host_is_ours(self, host: str) -> bool:
        """A page of another origin can make its own name point here, but not an address (DNS rebinding)."""
        name = _name(host).lower()
        return "*" in self._hosts or name in self._hosts or _is_address(name)

    def _is_open(self, method: str, path: str) -> bool:
        return method in ("GET", "HEAD") and path in self._open

    def _is_known(self, authorization: bytes) -> bool:
        scheme, _, token = authorization.partition(b" ")
        given = sha256(token.strip()).digest()  # of one length, whatever was sent
        return scheme.lower() == b"bearer" and hmac.compare_digest(given, self._token or b"")

    def _route(self, path: str, route: object = None) -> str:
        """Its pattern; paths nobody serves share one name, or a client could make as many counters as it likes."""
        pattern = getattr(route, "path", None)  # there is none where it never came to its route
        return str(pattern or (path if path in self._paths else "other"))


class _Body:
    """A `receive` that refuses to go on where the body is too large."""

    def __init__(self, receive: Receive, most: int, headers: dict[bytes, bytes], version: str) -> None:
        self.receive, self.most, self.n_bytes, self.ended = receive, most, 0, False
        self.asks_first = b"expect" in headers  # it sends the body only once it is told to go on
        self.closes = headers.get(b"connection", b"").lower() == b"close" or version == "1.0"

    async def __call__(self) -> Message:
        message = await self._next()
        if self.n_bytes > self.most:
            raise _too_large(self.n_bytes, self.most)
        return message

    async def rest(self) -> None:
        """Read what is left, and forget it."""
        while not self.ended:
            await self._next()

    async def _next(self) -> Message:
        message = await self.receive()
        self.n_bytes += len(message.get("body", b""))
        self.ended = not message.get("more_body", False)
        return message


class _Seen:
    """A `send` that remembers the status, and closes connections while the server ends."""

    def __init__(self, send: Send, body: _Body, service: Service) -> None:
        self.send, self.body, self.service, self.status, self.started = send, body, service, 499, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
            if self.service.draining:
                message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
            if (self.service.draining or self.body.closes) and not self.body.asks_first:
                await self.body.rest()  # to close while the client still sends would cost it the answer
        await self.send(message)


@lru_cache(_MOST_HEADS)
def _no_room(path: str, seconds: int) -> bytes:
    refusal = overloaded(seconds)
    body = body_of(path, refusal.status_code, str(refusal.detail), refusal)
    return raw(refusal.status_code, body, refusal.headers or {})


def _ending() -> Refusal:
    return Refusal(503, "The server is about to end. Try again elsewhere.", headers={"Retry-After": "1"})


def _too_large(size: int, most: int) -> Refusal:
    return Refusal(413, f"The body has {size} bytes or more; {most} are the most. Send fewer texts at once.")


def _length(headers: dict[bytes, bytes]) -> int:
    said = headers.get(b"content-length", b"0")
    return int(said[:18]) if said.isdigit() else 0


def _name(host: str) -> str:
    """The host without its port.

    >>> _name("[::1]:8000"), _name("localhost:80"), _name("127.0.0.1")
    ('::1', 'localhost', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
