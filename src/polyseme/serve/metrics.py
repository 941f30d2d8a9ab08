"""What the server counts of its work, in Prometheus' text; no text of any client is in it."""

from __future__ import annotations

from collections import Counter as Tally

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from polyseme.serve.batcher import Batcher, Work

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = tuple(2**power for power in range(15))


class Metrics:
    """Counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "polyseme_requests", "Requests by route and status.", ["route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "polyseme_request_seconds", "From a request's head to the end of its answer.", ["route"],
            registry=self.registry, buckets=_SECONDS,
        )  # fmt: skip
        self._tokens = Counter("polyseme_tokens", "Tokens computed.", ["model"], registry=self.registry)
        self._batch_inputs = Histogram(
            "polyseme_batch_inputs", "Inputs of a batch.", registry=self.registry, buckets=_SIZES
        )
        self._batch_tokens = Histogram(
            "polyseme_batch_tokens", "Tokens of a batch.", registry=self.registry, buckets=_SIZES
        )
        self._batch_seconds = Histogram(
            "polyseme_batch_seconds", "How long a batch takes.", registry=self.registry, buckets=_SECONDS
        )
        self._found: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._n_refused: Tally[str] = Tally()
        self._waiting = Gauge("polyseme_waiting_tokens", "Tokens that wait to be computed.", registry=self.registry)

    def request(self, route: str, status: int, seconds: float) -> None:
        counter, times = self._found.get((route, status)) or self._find(route, status)
        counter.inc()
        times.observe(seconds)

    def refused(self, route: str) -> None:
        """A request for which there is no room, answered without delay; added up when somebody asks."""
        self._n_refused[route] += 1

    def _find(self, route: str, status: int) -> tuple[Counter, Histogram]:
        """Those of a route and a status; to look them up again takes longer than to count."""
        found = self._found[route, status] = self._requests.labels(route, str(status)), self._seconds.labels(route)
        return found

    def batch(self, work: Work, n_inputs: int, n_tokens: int, seconds: float) -> None:
        self._tokens.labels(work.key[0]).inc(n_tokens)
        self._batch_inputs.observe(n_inputs)
        self._batch_tokens.observe(n_tokens)
        self._batch_seconds.observe(seconds)

    def text(self, batcher: Batcher) -> bytes:
        self._waiting.set(batcher.waiting)
        refused, self._n_refused = self._n_refused, Tally()
        for route, n in refused.items():
            self._find(route, 429)[0].inc(n)
        return generate_latest(self.registry)
