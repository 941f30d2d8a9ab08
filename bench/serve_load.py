"""Clients that ask a server without a pause, and what they saw; one process, so that it costs all servers the same."""

import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Seen:
    """What clients saw of one server."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)  # of what was answered with 200
    statuses: Counter = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Answers with 200 a second."""
        return self.statuses[200] / self.seconds if self.seconds else 0.0

    def percentile(self, part: float) -> float:
        """In milliseconds."""
        ordered = sorted(self.latencies) or [float("nan")]
        return 1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def requests(texts: list[str], path: str = "/embed") -> list[bytes]:
    """One text each, ready to be sent."""
    made = []
    for text in texts:
        body = json.dumps({"inputs": [text]}).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        made.append(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    return made


def load(port: int, some: list[bytes], n_clients: int, seconds: float, per_second: float | None = None) -> Seen:
    """`n_clients` that each send the next request when the last is answered, and wait where Retry-After says so.

    With `per_second` they send that many in all, at a steady pace and whatever is answered.
    """
    return asyncio.run(_load(port, some, n_clients, seconds, per_second))


async def _load(port: int, some: list[bytes], n_clients: int, seconds: float, per_second: float | None) -> Seen:
    seen, loop = Seen(), asyncio.get_running_loop()
    pause = n_clients / per_second if per_second else None
    clients = [_Client(some, place, seen, pause) for place in range(n_clients)]
    for client in clients:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    start = time.perf_counter()  # a thousand connections take most of a second to make
    for place, client in enumerate(clients):
        client.end = start + seconds
        loop.call_later((pause or 0.0) * place / n_clients, client.send)
    await asyncio.gather(*[client.ended for client in clients])
    seen.seconds = time.perf_counter() - start
    return seen


class _Client(asyncio.Protocol):
    """One connection; as little work as can be, since it is done on the cores of the server."""

    def __init__(self, some: list[bytes], place: int, seen: Seen, pause: float | None) -> None:
        self.some, self.place, self.seen, self.pause = some, place, seen, pause
        self.end = 0.0  # when nothing is sent any more
        self.loop = asyncio.get_running_loop()
        self.ended = self.loop.create_future()
        self.due = self.sent = 0.0
        self.got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(error or ConnectionError("closed before it was answered"))

    def send(self) -> None:
        self.sent = time.perf_counter()
        self.due = self.due or self.sent
        if self.sent >= self.end:
            self.ended.set_result(None)
            self.transport.close()
            return
        self.transport.write(self.some[self.place % len(self.some)])
        self.place += 61  # every client goes through the texts in an order of its own

    def data_received(self, data: bytes) -> None:
        self.got += data
        head, end, body = self.got.partition(b"\r\n\r\n")
        lower = head.lower()
        if not end or len(body) < _number(lower, b"\r\ncontent-length: "):
            return
        self.got = b""
        status, now = int(head[9:12]), time.perf_counter()
        self.seen.statuses[status] += 1
        if status == 200:
            self.seen.latencies.append(now - self.sent)
        if self.pause:
            self.due += self.pause  # whoever is late hurries
            wait = self.due - now
        else:
            wait = 0.0 if status == 200 else _number(lower, b"\r\nretry-after: ")
        self.loop.call_later(min(wait, self.end - now), self.send) if wait > 0 else self.send()


def _number(head: bytes, name: bytes) -> int:
    return int(head.partition(name)[2].partition(b"\r\n")[0] or 0)
