import json
import logging
import time

import pytest
from serving import ask

pytest.importorskip("fastapi")
from polyseme.serve.app import make_app
from polyseme.serve.limits import Limits
from polyseme.serve.service import Service

BODY = {"inputs": "the crack in the wall"}


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80", "10.0.0.7", "LOCALHOST"])
def test_addresses_and_localhost_are_answered(app, host):
    assert ask(app, "/embed", BODY, headers={"host": host}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example:80"])
def test_names_that_are_not_ours_are_refused(app, host):
    assert ask(app, "/embed", BODY, headers={"host": host}).status == 421


def test_a_name_can_be_allowed(service):
    assert (
        ask(make_app(service, hosts=["models.example"]), "/embed", BODY, headers={"host": "models.example"}).status
        == 200
    )
    assert ask(make_app(service, hosts=["*"]), "/embed", BODY, headers={"host": "any.example"}).status == 200


def test_a_token_is_wanted_everywhere_but_for_health(service):
    app = make_app(service, token="sesam")
    for path, body in (("/embed", BODY), ("/v1/models", None), ("/metrics", None), ("/info", None), ("/x", None)):
        assert ask(app, path, body).status == 401
        for wrong in ("Bearer", "Bearer sesa", "Basic sesam", "Bearer sesam2", "sesam"):
            assert ask(app, path, body, headers={"authorization": wrong}).status == 401
        assert ask(app, path, body, headers={"authorization": "Bearer sesam"}).status != 401
    assert ask(app, "/v1/models").json["error"]["code"] == "invalid_api_key"
    assert ask(app, "/health").status == 200


def test_no_other_origin_is_allowed(app):
    answer = ask(app, "/embed", BODY, headers={"origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    preflight = ask(app, "/embed", method="OPTIONS", headers={"origin": "http://evil.example"})
    assert preflight.status == 405


@pytest.mark.parametrize(
    "content, status",
    [
        (b'{"inputs": NaN}', 400),
        (b'{"inputs": "a", "dimensions": Infinity}', 400),
        (b"[" * 100_000, 400),
        (b"[" * 100_000 + b"]" * 100_000, 400),
        (b'{"inputs":' * 100_000, 400),
        (b'{"inputs": "\xff\xfe"}', 400),
        (b'{"inputs": "\\ud800"}', 400),
        (b"", 422),
        (b"null", 422),
        (b'"a"', 422),
        (b'{"inputs": {}}', 422),
        (b'{"inputs": "a", "dimensions": 1e999}', 422),
        (b'{"inputs": "a", "dimensions": 10000000000000000000000}', 413),
        (b'{"inputs": "a", "dimensions": -1}', 422),
        (b'{"inputs": "a\\u0000b"}', 200),
    ],
)
def test_bodies_that_make_no_sense_are_refused_clearly(app, content, status):
    answer = ask(app, "/embed", content)
    assert answer.status == status, answer.content
    if status != 200:
        assert len(answer.json["error"]) < 400


def test_a_body_must_be_said_to_be_json(app):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert ask(app, "/embed", BODY, headers={"content-type": kind}).status == 415
    assert ask(app, "/embed", BODY, headers={"content-type": "application/json; charset=utf-8"}).status == 200


def test_a_body_is_counted_while_it_comes_in(app, service):
    large = b'{"inputs": "' + b"a" * (service.limits.body_bytes + 1) + b'"}'
    assert ask(app, "/embed", large, pieces=50).status == 413
    said = ask(app, "/embed", b"{}", headers={"content-length": str(64 << 20)})
    assert said.status == 413
    assert str(service.limits.body_bytes) in said.json["error"]


def test_while_the_server_ends_new_requests_are_refused_and_connections_closed(app, service, monkeypatch):
    monkeypatch.setattr(service, "draining", True)
    answer = ask(app, "/embed", BODY)
    assert answer.status == 503
    assert answer.headers["connection"] == "close"
    assert "retry-after" in answer.headers


def test_a_deadline_that_is_over_is_told(service, monkeypatch):
    app = make_app(Service(service.models, Limits(deadline=0.05)))  # its queue ends with this one request
    encoder = service.models.named("bert").pretrained.encoder
    forward = encoder.forward
    monkeypatch.setattr(encoder, "forward", lambda batch: time.sleep(0.3) or forward(batch))
    answer = ask(app, "/embed", BODY)
    assert (answer.status, answer.json["error_type"]) == (504, "Overloaded")


def test_no_text_is_logged_even_when_the_model_fails(app, service, caplog, monkeypatch):
    model = service.models.named("bert")
    monkeypatch.setattr(model.pretrained.encoder, "forward", lambda batch: 1 / 0)
    with caplog.at_level(logging.DEBUG):
        answer = ask(app, "/embed", {"inputs": "the secret crack"})
    assert (answer.status, answer.json["error_type"]) == (424, "Backend")
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text


def test_what_is_refused_before_its_route_is_counted_for_it(service):
    one = Service(service.models, Limits())
    app = make_app(one, token="sesam")
    assert ask(app, "/embed", BODY).status == ask(app, "/secret").status == 401
    one.batcher.waiting, one.batcher._closed = 10**9, True
    assert ask(app, "/embed", BODY, headers={"authorization": "Bearer sesam"}).status == 429
    text = one.metrics.text(one.batcher).decode()
    for route, status in (("/embed", 401), ("/embed", 429), ("other", 401)):
        assert f'polyseme_requests_total{{route="{route}",status="{status}"}} 1.0' in text


def test_a_full_queue_refuses_before_anything_is_parsed(service):
    one = Service(service.models, Limits())
    app = make_app(one, token="sesam")

    def said(path="/embed", method="POST", host="localhost", token="sesam", body="{}"):
        lines = (
            f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}"
        )
        return app.refused_at_once(f"{lines}\r\n\r\n{body}".encode())

    assert said() is None  # there is room
    one.batcher.waiting, one.batcher._closed = 10**9, True
    head, body = said().split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"\r\nRetry-After: " in head
    assert int(head.rsplit(b"content-length: ", 1)[1]) == len(body)
    assert json.loads(body)["error_type"] == "Overloaded"
    assert json.loads(said("/v1/embeddings").split(b"\r\n\r\n")[1])["error"]["code"] == "rate_limit_exceeded"
    # all else goes its way: who may not ask is told so, and what costs nothing is answered
    assert said(method="GET", body="") is None
    assert said(token="simsalabim") is None
    assert said(host="elsewhere.example") is None
    assert said(body=" " * (one.limits.body_bytes + 1)) is None
    assert 'route="/embed",status="429"} 1.0' in one.metrics.text(one.batcher).decode()
