import asyncio
import signal
import socket
import threading

import pytest
import serving
import torch
from serving import Client, Local, post, read_all

pytest.importorskip("fastapi")
from polyseme.errors import Mistake
from polyseme.serve import server as serve_server
from polyseme.serve.limits import Limits
from polyseme.serve.service import Service

BODY = {"inputs": ["the crack in the wall"] * 40}
MANY = {"inputs": ["the crack in the wall"] * 1000}
METRICS = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sesam\r\nconnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def strict(folders, tmp_path_factory):
    """A server with a short queue that wants a token."""
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text("sesam\n")
    server = serving.Process(folders / "bert", "--waiting-tokens", "8000", "--token-file", token)
    yield server
    assert server.end() == 0
    assert "sesam" not in server.said


def known(body):
    return post("/embed", body, close=True).replace(b"\r\n", b"\r\nauthorization: Bearer sesam\r\n", 1)


def test_what_was_taken_is_answered_after_sigterm_and_what_comes_later_refused(folders):
    server = serving.Process(folders / "bert", "--drain", "300", "--receive", "300")
    answers = []

    async def client():
        """Asks without a pause until it is told that the server ends."""
        one = Client(server.port)
        while True:
            answer = await one.ask("/embed", BODY)
            answers.append(answer)
            if answer.headers.get("connection") == "close":
                return

    async def main():
        clients = [asyncio.ensure_future(client()) for _ in range(8)]
        await asyncio.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        await asyncio.gather(*clients)  # a lost reply would raise IncompleteReadError or ConnectionResetError

    whole = post("/embed", BODY)
    half, idle = server.socket(whole[:-10]), server.socket()
    asyncio.run(main())
    assert server.end(120) == 0  # the half-sent request does not keep it from ending
    assert read_all(half).startswith(b"HTTP/1.1 503")
    assert read_all(idle) == b""
    assert {answer.status for answer in answers} <= {200, 503}
    assert sum(answer.status == 200 for answer in answers) >= 8
    assert "Traceback" not in server.said


@pytest.mark.parametrize("n_signals", [1, 2])
def test_it_ends_in_time_though_a_batch_computes(folders, n_signals):
    """After the time to drain, or at once at a second signal; whoever waits is told."""
    stuck = """
import sys, time
from polyseme.encoders.bert import BertEncoder
from polyseme.cli import main
BertEncoder.forward = lambda self, batch, state=None: print("stuck", file=sys.stderr, flush=True) or time.sleep(600)
main()
"""
    drain = "2" if n_signals == 1 else "600"
    server = serving.Process(folders / "bert", "--drain", drain, program=("-c", stuck))
    try:
        with server.socket(post("/embed", BODY)) as waiting, server.socket() as idle:
            while "stuck" not in server.process.stderr.readline():
                pass
            for _ in range(n_signals):
                server.process.send_signal(signal.SIGTERM)
                read_all(idle)  # the first one was heard
            assert server.process.wait(30) == 0
            assert read_all(waiting).startswith(b"HTTP/1.1 503")
    finally:
        server.end()
    assert "Traceback" not in server.said


def test_a_client_that_leaves_is_not_computed_for(service, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)  # so that one text keeps all others waiting
    encoder = service.models.named("bert").pretrained.encoder
    gate, n_read, forward = threading.Event(), [], encoder.forward

    def held(batch):
        n_read.append(batch.n_sequences)
        assert gate.wait(20)
        return forward(batch)

    monkeypatch.setattr(encoder, "forward", held)
    one = Service(service.models, Limits())
    with Local(one) as local:
        address = ("127.0.0.1", local.port)
        with socket.create_connection(address, 20) as staying, socket.create_connection(address, 20) as leaving:
            staying.sendall(post("/embed", {"inputs": "the crack"}, close=True))
            serving.until(lambda: n_read)
            leaving.sendall(post("/embed", MANY))
            serving.until(lambda: one.batcher.waiting > 5000)
            leaving.close()
            serving.until(lambda: one.batcher.waiting == 0)
            gate.set()
            assert read_all(staying).startswith(b"HTTP/1.1 200")
    assert n_read == [1]


def test_as_many_files_may_be_open_as_there_may_be_connections(monkeypatch):
    resource, given = pytest.importorskip("resource"), []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 2000))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, pair: given.append(pair))
    serve_server.allow_files(200)
    serve_server.allow_files(1088)
    assert given == [(1088, 2000)]
    with pytest.raises(Mistake, match="--connections 1936"):
        serve_server.allow_files(2001)


def test_a_host_that_is_not_there_is_not_blamed_on_the_port(monkeypatch):
    def unknown(*given, **options):
        raise OSError(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "create_server", unknown)
    with pytest.raises(Mistake, match="another --host"):
        serve_server._listening("nosuch.invalid", 0, 10)


def test_a_queue_that_is_full_says_429_and_when_to_come_again(strict):
    said = []
    clients = [threading.Thread(target=lambda: said.append(strict.say(known(MANY)))) for _ in range(8)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    assert {int(answer.split()[1]) for answer in said} == {200, 429}
    refused = next(answer for answer in said if answer.split()[1] == b"429")
    assert b"retry-after: " in refused.lower()


def test_a_token_is_wanted(strict):
    assert b" 401 " in strict.say(METRICS.replace(b"sesam", b"simsalabim"))[:20]
    assert b" 200 " in strict.say(METRICS)[:20]
