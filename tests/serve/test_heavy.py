"""What takes minutes: thousands of requests, a hundred ends, schemathesis."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import serving
from serving import Client

pytest.importorskip("fastapi")
from polyseme.encoders.sentences import sentence_vectors
from polyseme.formats import load

pytestmark = pytest.mark.slow

MASTER = """
import os, sys
from polyseme.serve.app import make_app
from polyseme.serve.limits import Limits
from polyseme.serve.models import load_models
from polyseme.serve.server import serve
from polyseme.serve.service import Service

models = load_models(sys.argv[1:])
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        service = Service(models, Limits(drain=10))
        serve(make_app(service), service, "127.0.0.1", 0, lambda port: print(os.getpid(), port, flush=True))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def some_texts(n, seed=0):
    draw = random.Random(seed)
    return [" ".join(draw.choices(serving.WORDS, k=draw.randint(1, 25))) for _ in range(n)]


def alone(folders, texts):
    """What each text's answer is when nothing else is computed with it."""
    bert = load(folders / "bert")
    vectors = np.concatenate([sentence_vectors(bert, [text]) for text in texts])
    words = [bert.embed([text])[0] for text in texts]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), words


async def ask_one(client, kind, number, texts, vectors, words):
    """One request of some kind, whose answer must be that of its text."""
    text = texts[number]
    match kind:
        case "openai":
            answer = await client.ask("/v1/embeddings", {"input": text, "model": "bert"})
            assert answer.status == 200, answer.content
            found = answer.json["data"][0]["embedding"]
        case "embed":
            answer = await client.ask("/embed", {"inputs": [text]})
            assert answer.status == 200, answer.content
            found = answer.json[0]
        case "words":
            answer = await client.ask("/words", {"inputs": [text]})
            assert answer.status == 200, answer.content
            assert serving.is_same(np.array(answer.json[0]["vectors"]), words[number])
            return answer.status
        case "several":
            some = [(number + step) % len(texts) for step in range(5)]
            answer = await client.ask("/embed", {"inputs": [texts[one] for one in some]})
            assert answer.status == 200, answer.content
            assert serving.is_same(np.array(answer.json), vectors[some])
            return answer.status
    assert serving.is_same(np.array(found), vectors[number])
    assert np.argmax(vectors @ np.array(found)) == number
    return answer.status


def test_ten_thousand_mixed_requests_are_all_answered_with_their_own_answer(folders):
    texts = list(dict.fromkeys(some_texts(400)))
    vectors, words = alone(folders, texts)
    server = serving.Process(folders / "bert", folders / "classify")
    draw, kinds, statuses = random.Random(1), ["openai", "embed", "words", "several"], Counter()
    plan = iter([(draw.choice(kinds), draw.randrange(len(texts))) for _ in range(10_000)])

    async def client():
        one = Client(server.port)
        for kind, number in plan:
            statuses[await ask_one(one, kind, number, texts, vectors, words)] += 1
        one.close()

    async def main():
        await asyncio.gather(*[client() for _ in range(64)])

    asyncio.run(main())
    assert server.end() == 0
    assert statuses == {200: 10_000}
    assert "Traceback" not in server.said


def test_ten_times_too_many_clients_get_200_or_429_only(folders):
    server = serving.Process(folders / "bert", "--waiting-tokens", "4000")
    statuses = Counter()
    body = {"inputs": some_texts(20)}

    async def client():
        one = Client(server.port)
        for _ in range(5):
            answer = await one.ask("/embed", body)
            statuses[answer.status] += 1
            if answer.status == 429:
                assert int(answer.headers["retry-after"]) >= 1
        one.close()

    async def main():
        await asyncio.gather(*[client() for _ in range(640)])

    asyncio.run(main())
    assert server.end() == 0
    assert set(statuses) == {200, 429}, statuses
    assert sum(statuses.values()) == 3200


def test_no_accepted_request_is_lost_in_a_hundred_ends(folders):
    """On a connection from before the end every request is answered, by 200 or 503; new ones may be refused."""
    master = subprocess.Popen(
        [sys.executable, "-c", MASTER, str(folders / "bert")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(serving.SOURCE)},
    )  # fmt: skip
    statuses, body, draw = Counter(), {"inputs": some_texts(5)}, random.Random(0)

    async def client(port, ending):
        while True:
            one, is_new = Client(port), ending.is_set()
            try:
                one.reader, one.writer = await asyncio.open_connection("127.0.0.1", port)
                while one.writer is not None:
                    answer = await one.ask("/embed", body)
                    statuses[answer.status] += 1
            except (ConnectionError, asyncio.IncompleteReadError):
                assert is_new, "a connection that was there before the end got no answer"
                return
            if answer.status == 503:
                await asyncio.sleep(0.01)

    async def main(process, port):
        ending = asyncio.Event()
        clients = [asyncio.ensure_future(client(port, ending)) for _ in range(16)]
        await asyncio.sleep(draw.uniform(0.1, 0.4))
        ending.set()
        os.kill(process, signal.SIGTERM)
        await asyncio.gather(*clients)

    try:
        for _ in range(100):
            master.stdin.write("\n")
            master.stdin.flush()
            process, port = map(int, master.stdout.readline().split())
            asyncio.run(main(process, port))
            assert master.stdout.readline() == "0\n"
    finally:
        master.stdin.close()
        master.wait(20)
        master.stdout.close()
    assert set(statuses) <= {200, 503}
    assert statuses[200] > 1000


def test_schemathesis_finds_no_500_in_two_thousand_cases(folders, tmp_path):
    pytest.importorskip("schemathesis")
    names = [folders / name for name in ("bert", "elmo", "awd", "classify", "pair", "regress", "tag", "span")]
    server = serving.Process(*names)
    cases = tmp_path / "cases.ndjson"
    command = [
        Path(sys.executable).parent / "st", "run", f"{server.address}/openapi.json", "--checks",
        "not_a_server_error,response_schema_conformance,content_type_conformance", "--max-examples", "150",
        "--phases", "examples,coverage,fuzzing", "--report", "ndjson", "--report-ndjson-path", str(cases),
        "--generation-database", "none", "--suppress-health-check", "all", "--no-color",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    metrics = server.say(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").decode()
    assert server.end() == 0
    counted = Counter()
    for line in metrics.splitlines():
        if line.startswith("polyseme_requests_total"):
            counted[line.split('status="')[1][:3]] += int(float(line.split()[-1]))
    print(json.dumps(counted))
    assert done.returncode == 0, done.stdout[-6000:]
    assert sum(counted.values()) >= 2000
    assert not counted["500"]
    assert "Traceback" not in server.said
