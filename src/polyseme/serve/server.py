"""uvicorn's server with an orderly end: requests that were taken are answered, others are refused or cut off."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import uvicorn

from polyseme.errors import Mistake
from polyseme.serve.guards import Guards
from polyseme.serve.protocol import connections
from polyseme.serve.service import Service

_LINGER = 0.5  # seconds in which clients that do not know yet are told
_OTHER_FILES = 64  # that are open beside the connections


class Server(uvicorn.Server):
    """It ends on SIGTERM and on Ctrl-C; a second signal ends it at once."""

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[int], None]) -> None:
        super().__init__(config)
        self.service, self.ready = service, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready(self.servers[0].sockets[0].getsockname()[1])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Remembers no signal, which uvicorn would raise again in the end: an orderly end is no failure."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """For a moment connections are still taken, so that whoever is on the way gets a 503 and not a reset."""
        self.service.draining = True
        await asyncio.sleep(_LINGER)
        ending = asyncio.ensure_future(super().shutdown(sockets))
        while not (ending.done() or self.force_exit):
            await asyncio.wait({ending}, timeout=0.1)
        if ending.done():
            await ending
        # whoever ran the loop waits for the threads of its executor, though nobody waits for what they do
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))


def serve(app: Guards, service: Service, host: str, port: int, ready: Callable[[int], None]) -> None:
    """Until a signal comes; `ready` is told the port once requests are taken. Threads may still compute afterwards."""
    allow_files(service.limits.connections + _OTHER_FILES)
    with _listening(host, port, min(2048, 2 * service.limits.connections)) as listening:
        make_server(app, service, ready).run([listening])


def allow_files(n_files: int) -> None:
    """Let the process have so many files open, which every connection is."""
    try:
        import resource
    except ImportError:  # a system without such a limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and n_files > hard:
        fewer = max(1, hard - _OTHER_FILES)
        raise Mistake(
            f"{n_files - _OTHER_FILES} connections want {n_files} open files; this system allows {hard}. "
            f"Give --connections {fewer}, or raise its limit (ulimit -Hn)."
        )
    if soft != resource.RLIM_INFINITY and n_files > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, hard))


def make_server(app: Guards, service: Service, ready: Callable[[int], None]) -> Server:
    limits = service.limits
    config = uvicorn.Config(
        app,
        http=connections(limits, app.refused_at_once),
        ws="none",
        proxy_headers=False,
        loop="asyncio",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=int(limits.idle) or 1,
        timeout_graceful_shutdown=max(1, int(limits.drain - _LINGER)),
    )
    return Server(config, service, ready)


def _listening(host: str, port: int, backlog: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=backlog)
    except OSError as error:
        other = "--port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "--host"
        raise Mistake(
            f"{host}, port {port}, cannot be listened on: {error.strerror}. Choose another {other}."
        ) from None
