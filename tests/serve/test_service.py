import asyncio
import threading

import pytest
from serving import ask, call
from starlette.requests import Request

pytest.importorskip("fastapi")
from polyseme.serve import embedding, pieces
from polyseme.serve.app import make_app
from polyseme.serve.limits import Limits
from polyseme.serve.refusals import Refusal
from polyseme.serve.service import Service

LONG = {"inputs": "the crack in the wall " * 250}  # 5500 characters


def test_texts_that_are_tokenised_have_the_deadline_and_take_room_in_the_queue(service, monkeypatch):
    gate, real = threading.Event(), embedding._sequences
    monkeypatch.setattr(embedding, "_sequences", lambda *given: gate.wait(20) and real(*given))
    one = Service(service.models, Limits(deadline=0.3, waiting_tokens=500))
    app = make_app(one)

    async def main():
        first = asyncio.ensure_future(call(app, "POST", "/embed", LONG))
        async with asyncio.timeout(20):
            while not one.batcher.waiting:
                await asyncio.sleep(0.01)
        assert (await call(app, "POST", "/embed", LONG)).status == 429
        assert (await first).status == 504
        gate.set()

    asyncio.run(main())


def test_a_client_that_leaves_while_its_texts_are_tokenised_is_not_waited_for(service):
    gate = threading.Event()

    async def main():
        async def receive():
            return {"type": "http.disconnect"}

        scope = {"type": "http", "headers": [], "arrived": asyncio.get_running_loop().time()}
        with pytest.raises(Refusal) as gone:
            await Service(service.models, Limits()).prepared(Request(scope, receive), 5000, lambda: gate.wait(20))
        assert gone.value.status_code == 499
        gate.set()

    asyncio.run(main())


def test_many_ids_are_read_in_a_thread_too(service, monkeypatch):
    threads, real = [], pieces.of_ids
    monkeypatch.setattr(pieces, "of_ids", lambda *given: threads.append(threading.current_thread()) or real(*given))
    app = make_app(Service(service.models, Limits()))
    for n_rows in (1, 100):
        assert ask(app, "/v1/embeddings", {"input": [[5] * 100] * n_rows, "model": "bert"}).status == 200
    assert threads[0] is threading.main_thread() is not threads[1]


@pytest.mark.parametrize(
    "path, body",
    [
        ("/embed", {"inputs": ["a" * 600] * 3}),
        ("/words", {"inputs": [["a"] * 300] * 3}),
        ("/tag", {"inputs": [["a"] * 900, ["a"] * 800]}),
        ("/tag", {"inputs": [["a"] * 900]}),
        ("/v1/embeddings", {"input": [[5] * 90] * 20, "model": "bert"}),
    ],
)
def test_texts_that_are_too_long_together_are_refused_before_they_are_tokenised(service, path, body):
    app = make_app(Service(service.models, Limits(tokens_per_input=100, waiting_tokens=100)))
    answer = ask(app, path, body)
    assert answer.status in (413, 400)
    assert "1600" in str(answer.json["error"])
    assert "characters" in str(answer.json["error"])


def test_a_single_text_that_costs_too_much_is_to_be_cut_up(service):
    app = make_app(Service(service.models, Limits(waiting_tokens=100)))
    assert "Cut it up" in ask(app, "/score", {"inputs": ["the wall " * 20]}).json["error"]
    assert "fewer texts" in ask(app, "/score", {"inputs": ["the wall " * 20] * 2}).json["error"]
