"""Connections: what half-sent requests, slow readers and floods of them may cost."""

from __future__ import annotations

import asyncio
import math
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NamedTuple

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from polyseme.serve.limits import Limits
from polyseme.serve.refusals import body_of

_LINGER = 1.0  # seconds in which a client that is cut off may read why

# the first line and the names of headers of a request like any other, and headers by which one says more of the
# connection, or of where it ends
_FIRST = re.compile(rb"([A-Z]+) (/[\w./-]*)(?:\?[!-~]*)? HTTP/1\.1")
_NAME = re.compile(rb"[\w-]+")
_SIZE = re.compile(rb"0|[1-9]\d{0,17}")
_OTHERS = {b"proxy-connection", b"expect", b"upgrade", b"transfer-encoding", b"trailer", b"te"}

END = b"\r\n\r\n"  # of a head

Refuse = Callable[[bytes], bytes | None]  # what came in to the whole answer, if it is a request that is refused at once


class Head(NamedTuple):
    """What the head of a request says."""

    method: str
    path: str
    headers: dict[bytes, bytes]
    body_bytes: int


def connections(limits: Limits, refuse: Refuse = lambda data: None) -> type[asyncio.Protocol]:
    """The protocol of one server's connections. uvicorn itself has no time limit for a request to come in.

    What `refuse` refuses is not even parsed: a server with more requests than it can take has no time for them.
    """
    too_large = f"The headers are larger than {limits.head_bytes} bytes."

    class Connection(HttpToolsProtocol):
        """uvicorn's, with a clock for each request and each reply, and limits of the head and of their number."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self._in_head = self._in_request = self._ended = self._is_cut = False
            self._again = False  # whether a head is parsed that was parsed before
            self._n_read = self._n_parsed = 0  # bytes of the head, at the least, by what is read and by what it holds
            self._refused = -math.inf  # when a request was refused at once
            self._last: tuple[int, str] | None = None  # what is to be said behind the answers that are due
            self._late: asyncio.TimerHandle | None = None
            self._stuck: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            _at_once(transport)
            self.parser = _Plain(self, self.parser)  # type: ignore[assignment]
            if len(self.connections) > limits.connections:
                self._cut(503, f"There are {limits.connections} connections already. Try again later.")
            else:
                self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unwatch()
            self._unstick()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._is_deaf():
                return
            is_idle = not (self._in_request or self._owes() or self.flow.write_paused)
            if is_idle and len(data) <= limits.head_bytes and (answer := refuse(data)):
                self.transport.write(answer)
                self._keep()
                return
            self._ended = False
            super().data_received(data)
            if self._is_deaf():
                return
            if self._in_head and not self._ended:  # else only a part of what was read is of this head
                self._n_read += len(data)
            if self._is_too_large():
                self._cut(431, too_large)
            elif not (self._in_request or self._owes() or self.timeout_keep_alive_task):
                self._watch()  # an empty line has ended the time it may be idle

        def eof_received(self) -> None:
            """A client that closes its side has gone, and no answer is sent but to the request it broke off."""
            if self._in_request and not (self._is_cut or self._owes()):
                self._cut(400, "The request ended before it was whole. Check its Content-Length.")
            self._stick()

        def on_upgrade(self, parser: httptools.HttpRequestParser) -> httptools.HttpRequestParser:
            """Another protocol is asked for, as Java's HttpClient does by default: none is spoken here, and the request
            is read on. httptools takes it to end with its head, so a new parser is given that head once more."""
            sized = (b"content-length", b"transfer-encoding", b"connection")
            lines = [b"%s: %s\r\n" % (name, value) for name, value in self.headers if name in sized]
            again = httptools.HttpRequestParser(self)
            self._again = True
            again.feed_data(b"POST / HTTP/%s\r\n%s\r\n" % (parser.get_http_version().encode(), b"".join(lines)))
            self._again = False
            return again

        def on_message_begin(self) -> None:
            if self._again:
                return
            super().on_message_begin()
            self._in_head = self._in_request = True
            self._n_read = self._n_parsed = 0
            self._watch()

        def on_url(self, url: bytes) -> None:
            if self._again:
                return
            super().on_url(url)
            self._add(len(url))

        def on_header(self, name: bytes, value: bytes) -> None:
            if self._in_head and not self._again:  # trailers are of no use, and could be without end
                super().on_header(name, value)
                self._add(len(name) + len(value) + len(b": \r\n"))

        def on_headers_complete(self) -> None:
            if self._again:
                return
            self._in_head = False
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            if self.parser.should_upgrade() and not self._again:
                return  # its body, if it has one, is still to come
            self._in_request, self._ended = False, True
            self._unwatch()
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.transport.is_closing():
                self._stick()
            elif self._last and not self._owes():
                self._cut(*self._last)

        def send_400_response(self, msg: str) -> None:
            """What the parser could not read, or was told not to read."""
            self._cut(*((431, too_large) if self._is_too_large() else (400, msg)))

        def timeout_keep_alive_handler(self) -> None:
            self.timeout_keep_alive_task = None
            left = self._refused + self.timeout_keep_alive - self.loop.time()
            if left > 0:
                self.timeout_keep_alive_task = self.loop.call_later(left, self.timeout_keep_alive_handler)
            else:
                self._close()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._stick()

        def resume_writing(self) -> None:
            super().resume_writing()
            if not self.transport.is_closing():
                self._unstick()

        def shutdown(self) -> None:
            if self._is_cut:
                self._close()
            elif self._in_request and not self.flow.read_paused:
                self._cut(503, "The server is about to end, and the request was not whole yet.")
            else:
                super().shutdown()
                if self.transport.is_closing():
                    self._stick()

        def _keep(self) -> None:
            """After a refusal the time in which nothing may come begins anew; its clock, if it runs, is left alone,
            since setting one takes longer than to refuse."""
            self.server_state.total_requests += 1
            self._refused = self.loop.time()
            if self._late is not None or self.timeout_keep_alive_task is None:
                self._unwatch()
                self.timeout_keep_alive_task = self.loop.call_later(
                    self.timeout_keep_alive, self.timeout_keep_alive_handler
                )

        def _watch(self) -> None:
            if self._late is None:
                self._late = self.loop.call_later(limits.receive, self._too_slow)

        def _unwatch(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _stick(self) -> None:
            """What is written has its time to be taken too, the last of it as well."""
            if self._stuck is None:
                self._stuck = self.loop.call_later(limits.receive, self.transport.abort)

        def _unstick(self) -> None:
            if self._stuck is not None:
                self._stuck.cancel()
                self._stuck = None

        def _too_slow(self) -> None:
            self._late = None
            if self._owes() or self.flow.read_paused:  # then it is not this request that is waited for
                self._watch()
            elif self._in_request:
                self._cut(408, f"The request did not come in within {limits.receive:g} s.")
            else:
                self._close()

        def _add(self, n_bytes: int) -> None:
            self._n_parsed += n_bytes
            if self._is_too_large():
                raise ValueError("the head is too large")  # it ends the parsing

        def _is_too_large(self) -> bool:
            return max(self._n_read, self._n_parsed) > limits.head_bytes

        def _is_deaf(self) -> bool:
            return self._is_cut or self._last is not None or self.transport.is_closing()

        def _is_own(self) -> bool:
            """Whether the last cycle is that of the request that comes in."""
            return self._in_request and not self._in_head

        def _owes(self) -> bool:
            """Whether an answer is due to a request before the one that comes in."""
            return bool(self.pipeline) or not (self._is_own() or self.cycle is None or self.cycle.response_complete)

        def _cut(self, status: int, message: str) -> None:
            """Close, and say why, behind the answers to the requests before."""
            self._unwatch()
            if self._owes():
                self._last = status, message
                return
            cycle = self.cycle if self._is_own() else None
            if cycle is not None and (cycle.response_started or cycle.response_complete):
                self._close()
                return
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
            self._is_cut = True
            self.transport.write(_closing(status, message))
            self.transport.write_eof()  # to close while the client still sends would cost it the answer
            self.loop.call_later(_LINGER, self._close)

        def _close(self) -> None:
            self.transport.close()
            self._stick()

    return Connection


class _Plain:
    """httptools' parser, which does not stop at a request for another protocol."""

    def __init__(self, connection: Any, parser: httptools.HttpRequestParser) -> None:
        self._connection, self._parser = connection, parser

    def feed_data(self, data: bytes) -> None:
        while data:
            try:
                self._parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as at:
                self._parser = self._connection.on_upgrade(self._parser)
                data = data[at.args[0] :]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)


def _at_once(transport: asyncio.Transport) -> None:
    """Let no part of a reply wait until the one before it is acknowledged, which takes clients 40 ms.

    asyncio sees to this only for sockets that name their protocol, which those of a listening one do not.
    """
    connected = transport.get_extra_info("socket")
    if connected is not None:
        with suppress(OSError):  # of a connection that is gone already
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def head_of(data: bytes) -> Head | None:
    """What a request's head says, without the empty line that ends it, if the request leaves the connection as it is.

    Not for requests that are served: whatever is unusual is left to the parser.
    """
    first, *lines = data.split(b"\r\n")
    match = _FIRST.fullmatch(first)
    if not match or data.count(b"\n") != len(lines) or data.count(b"\r") != len(lines):
        return None
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        name = name.lower()
        if not colon or name in headers or not _NAME.fullmatch(name):
            return None
        headers[name] = value.strip(b" \t")
    if headers.get(b"connection", b"keep-alive").lower() != b"keep-alive" or not _OTHERS.isdisjoint(headers):
        return None
    size = headers.get(b"content-length", b"0")
    if not _SIZE.fullmatch(size):
        return None
    return Head(match[1].decode(), match[2].decode(), headers, int(size))


def _closing(status: int, message: str) -> bytes:
    return raw(status, body_of("", status, message), {"connection": "close"})


def raw(status: int, body: bytes, headers: Mapping[str, str]) -> bytes:
    """An answer as it goes over the line."""
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{head}{lines}content-length: {len(body)}\r\n\r\n".encode() + body
