import asyncio
import signal
import threading
import time

import pytest
import serving
from serving import Client, post, read_all

pytest.importorskip("fastapi")

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


def test_a_client_that_leaves_is_not_computed_for(strict):
    leaving = [strict.socket(known(MANY)) for _ in range(2)]
    time.sleep(0.05)
    for sock in leaving:
        sock.close()
    serving.until(lambda: b"polyseme_waiting_tokens 0.0" in strict.say(METRICS))
    text = strict.say(METRICS).decode()
    computed = float(text.split('polyseme_tokens_total{model="bert"} ')[1].split()[0]) if "tokens_total{" in text else 0
    assert computed < 7000  # what one of them has


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
