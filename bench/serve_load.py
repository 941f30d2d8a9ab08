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
    seen = Seen()
    start = time.perf_counter()
    pause = n_clients / per_second if per_second else None
    clients = [_client(port, some, place, n_clients, start, start + seconds, seen, pause) for place in range(n_clients)]
    await asyncio.gather(*clients)
    seen.seconds = time.perf_counter() - start
    return seen


async def _client(
    port: int, some: list[bytes], place: int, n_clients: int, start: float, end: float, seen: Seen, pause: float | None
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    due = start + (pause or 0.0) * place / n_clients
    while max(due, time.perf_counter()) < end:
        await asyncio.sleep(due - time.perf_counter() if pause else 0)
        sent = time.perf_counter()
        writer.write(some[place % len(some)])
        place += 61  # every client goes through the texts in an order of its own
        status, headers = await _answer(reader)
        seen.statuses[status] += 1
        if status == 200:
            seen.latencies.append(time.perf_counter() - sent)
        elif pause is None and b"retry-after" in headers:
            await asyncio.sleep(min(float(headers[b"retry-after"]), max(0.0, end - time.perf_counter())))
        due += pause or 0.0
    writer.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[bytes, bytes]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    headers = dict(line.lower().split(b": ", 1) for line in lines[1:] if line)
    await reader.readexactly(int(headers[b"content-length"]))
    return int(lines[0].split()[1]), headers
