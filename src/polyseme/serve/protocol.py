"""Connections: what half-sent requests, slow readers and floods of them may cost."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from polyseme.serve.limits import Limits
from polyseme.serve.refusals import body_of

_LINGER = 1.0  # seconds in which a client that is cut off may read why


def connections(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol of one server's connections. uvicorn itself has no time limit for a request to come in."""

    class Connection(HttpToolsProtocol):
        """uvicorn's, with a clock for each request and each reply, and limits of the head and of their number."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self._in_head = self._in_request = self._is_cut = False
            self._head_bytes = 0
            self._late: asyncio.TimerHandle | None = None
            self._stuck: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                self._cut(503, f"There are {limits.connections} connections already. Try again later.")
            else:
                self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unwatch()
            self.resume_writing()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._is_cut or self.transport.is_closing():
                return
            super().data_received(data)
            if self._in_head:
                self._head_bytes += len(data)
                if self._head_bytes > limits.head_bytes:
                    self._cut(431, f"The headers are larger than {limits.head_bytes} bytes.")

        def eof_received(self) -> None:
            if self._in_request and not self._is_cut:
                self._cut(400, "The request ended before it was whole. Check its Content-Length.")

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._in_head = self._in_request = True
            self._head_bytes = 0
            self._watch()

        def on_header(self, name: bytes, value: bytes) -> None:
            if self._in_head:  # trailers are of no use, and could be without end
                super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self._in_head = False
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._in_request = False
            self._unwatch()
            super().on_message_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._stuck is None:
                self._stuck = self.loop.call_later(limits.receive, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stuck is not None:
                self._stuck.cancel()
                self._stuck = None

        def shutdown(self) -> None:
            if self._is_cut:
                self.transport.close()
            elif self._in_request and not self._is_answering():
                self._cut(503, "The server is about to end, and the request was not whole yet.")
            else:
                super().shutdown()

        def _watch(self) -> None:
            if self._late is None:
                self._late = self.loop.call_later(limits.receive, self._too_slow)

        def _unwatch(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _too_slow(self) -> None:
            self._late = None
            if self._is_answering():  # then it is not this request that is waited for
                self._watch()
            else:
                self._cut(408, f"The request did not come in within {limits.receive:g} s.")

        def _is_answering(self) -> bool:
            """Whether an answer is due to a request before the one that comes in, or we do not read on ourselves."""
            before = self._in_head and self.cycle is not None and not self.cycle.response_complete
            return before or self.flow.read_paused

        def _cut(self, status: int, message: str) -> None:
            """Close, and say why where a request is there that has no answer yet."""
            self._unwatch()
            cycle = None if self._in_head else self.cycle
            answered = cycle is not None and (cycle.response_started or cycle.response_complete)
            if answered or not (self._in_request or status == 503):
                self.transport.close()
                return
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
            self._is_cut = True
            self.transport.write(_raw(status, message))
            self.transport.write_eof()  # to close while the client still sends would cost it the answer
            self.loop.call_later(_LINGER, self.transport.close)

    return Connection


def _raw(status: int, message: str) -> bytes:
    body = body_of("", status, message)
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
