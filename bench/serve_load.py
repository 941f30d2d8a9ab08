"""Clients that ask a server without a pause, and what they saw; one process, so that it costs all servers the same."""

import asyncio
import json
import select
import socket
import time
from collections import Counter, deque
from dataclasses import dataclass, field


@dataclass
class Seen:
    """What clients saw of one server."""

    seconds: float = 0.0
    cores: float = 0.0  # that a flood's clients took
    latencies: list[float] = field(default_factory=list)  # of what was answered with 200
    statuses: Counter = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Answers with 200 a second."""
        return self.statuses[200] / self.seconds if self.seconds else 0.0

    @property
    def sent(self) -> float:
        """Requests a second, whatever was answered."""
        return sum(self.statuses.values()) / self.seconds if self.seconds else 0.0

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


def load(port: int, some: list[bytes], n_clients: int, seconds: float) -> Seen:
    """`n_clients` that each send the next request when the last is answered, and wait where Retry-After says so."""
    return asyncio.run(_load(port, some, n_clients, seconds))


def flood(port: int, some: list[bytes], n_clients: int, seconds: float, per_second: float) -> Seen:
    """So many requests a second at a steady pace, whatever is answered, as long as a client is free to send one.

    Who floods a server does so from elsewhere; here it takes the server's own cores, so this is as little as can be:
    no event loop, and a look at all connections every two milliseconds.
    """
    seen, waiting, got, sent = Seen(), select.epoll(), {}, 0
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(n_clients)]
    for each in sockets:
        waiting.register(each, select.EPOLLIN)
    by_number, free = {each.fileno(): each for each in sockets}, deque(sockets)
    before, start = time.process_time(), time.perf_counter()
    while (now := time.perf_counter() - start) < seconds or len(free) < n_clients:
        while now < seconds and free and sent < now * per_second:
            free.popleft().sendall(some[sent % len(some)])
            sent += 1
        time.sleep(0.002)
        for number, _ in waiting.poll(0):
            more = by_number[number].recv(1 << 16)
            if not more:
                raise ConnectionError("closed by the server")
            data = got.pop(number, b"") + more
            if (status := _whole(data)) is None:
                got[number] = data
            else:
                seen.statuses[status] += 1
                free.append(by_number[number])
    seen.seconds, seen.cores = now, (time.process_time() - before) / now
    for each in sockets:
        each.close()
    return seen


def _whole(data: bytes) -> int | None:
    """The status of an answer, once all of it is there."""
    head, end, body = data.partition(b"\r\n\r\n")
    if not end or len(body) < _number(head.lower(), b"\r\ncontent-length: "):
        return None
    return int(head[9:12])


async def _load(port: int, some: list[bytes], n_clients: int, seconds: float) -> Seen:
    seen, loop = Seen(), asyncio.get_running_loop()
    clients = [_Client(some, place, seen) for place in range(n_clients)]
    for client in clients:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    start = time.perf_counter()  # a thousand connections take most of a second to make
    for client in clients:
        client.end = start + seconds
        loop.call_soon(client.send)
    await asyncio.gather(*[client.ended for client in clients])
    seen.seconds = time.perf_counter() - start
    return seen


class _Client(asyncio.Protocol):
    """One connection; as little work as can be, since it is done on the cores of the server."""

    def __init__(self, some: list[bytes], place: int, seen: Seen) -> None:
        self.some, self.place, self.seen = some, place, seen
        self.end = 0.0  # when nothing is sent any more
        self.loop = asyncio.get_running_loop()
        self.ended = self.loop.create_future()
        self.sent = 0.0
        self.got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(error or ConnectionError("closed before it was answered"))

    def send(self) -> None:
        self.sent = time.perf_counter()
        if self.sent >= self.end:
            self.ended.set_result(None)
            self.transport.close()
            return
        self.transport.write(self.some[self.place % len(self.some)])
        self.place += 61  # every client goes through the texts in an order of its own

    def data_received(self, data: bytes) -> None:
        self.got += data
        status, now = _whole(self.got), time.perf_counter()
        if status is None:
            return
        answer, self.got = self.got, b""
        self.seen.statuses[status] += 1
        if status == 200:
            self.seen.latencies.append(now - self.sent)
        wait = 0.0 if status == 200 else _number(answer.lower(), b"\r\nretry-after: ")
        self.loop.call_later(min(wait, self.end - now), self.send) if wait > 0 else self.send()


def _number(head: bytes, name: bytes) -> int:
    return int(head.partition(name)[2].partition(b"\r\n")[0] or 0)
