from dataclasses import replace

import numpy as np
import pytest
from serving import ask

pytest.importorskip("fastapi")
from polyseme.encoders.sentences import sentence_vectors
from polyseme.serve.app import make_app
from polyseme.serve.limits import Limits
from polyseme.serve.models import Model, Models
from polyseme.serve.service import Service

TEXTS = ["the crack in the wall", "bats fly at night"]


@pytest.fixture(scope="module")
def bert(service):
    return service.models.named("bert").pretrained


def test_embed_gives_sentence_vectors_normalised_unless_told_otherwise(app, bert):
    wanted = sentence_vectors(bert, TEXTS)
    plain = ask(app, "/embed", {"inputs": TEXTS, "normalize": False})
    np.testing.assert_allclose(plain.json, wanted, atol=1e-6)
    normed = ask(app, "/embed", {"inputs": TEXTS})
    np.testing.assert_allclose(normed.json, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    assert np.array(ask(app, "/embed", {"inputs": TEXTS[0], "dimensions": 4}).json).shape == (1, 4)


def test_embed_all_gives_a_vector_a_token(app, bert):
    found = ask(app, "/embed_all", {"inputs": TEXTS}).json
    wanted = bert.embed(TEXTS, level="piece")
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_long_text_is_cut_at_either_end_or_refused(app, bert):
    long = "the red river bank was high at night " * 6
    cut = ask(app, "/embed", {"inputs": long, "normalize": False})
    np.testing.assert_allclose(cut.json, sentence_vectors(bert, [long]), atol=1e-6)
    left = ask(app, "/embed", {"inputs": long, "normalize": False, "truncation_direction": "Left"})
    assert left.status == 200
    assert not np.allclose(left.json, cut.json)
    refused = ask(app, "/embed", {"inputs": long, "truncate": False})
    assert (refused.status, refused.json["error_type"]) == (413, "Validation")


def test_predict_takes_a_text_a_batch_or_a_pair(app, service):
    text = "the film was good"
    single = ask(app, "/predict", {"inputs": text}).json
    assert [set(one) for one in single] == [{"score", "label"}] * 2
    assert single[0]["score"] >= single[1]["score"]
    said = service.models.named("classify").fitted.predict([text])[0]
    assert single[0]["label"] == said.label
    assert single[0]["score"] == pytest.approx(said.scores[said.label], abs=1e-5)
    for one in ask(app, "/predict", {"inputs": [[text], [text]]}).json:
        assert [row["label"] for row in one] == [row["label"] for row in single]
        assert [row["score"] for row in one] == pytest.approx([row["score"] for row in single], abs=1e-6)
    pair = ask(app, "/predict", {"inputs": [text, text], "model": "pair"}).json
    assert {one["label"] for one in pair} == {"pos", "neg"}
    assert ask(app, "/predict", {"inputs": [[text, text]], "model": "pair"}).json == [pair]
    assert ask(app, "/predict", {"inputs": text, "model": "regress"}).json[0]["label"] == "LABEL_0"
    assert ask(app, "/predict", {"inputs": text, "model": "pair"}).status == 422
    assert ask(app, "/predict", {"inputs": [text, text]}).status == 422
    assert ask(app, "/predict", {"inputs": text, "model": "bert"}).json["error_type"] == "Backend"


def test_similarity_is_the_cosine_of_the_vectors(app):
    body = {"inputs": {"source_sentence": TEXTS[0], "sentences": [TEXTS[1], TEXTS[0]]}}
    vectors = np.array(ask(app, "/embed", {"inputs": TEXTS}).json)
    found = ask(app, "/similarity", body).json
    np.testing.assert_allclose(found, [vectors[0] @ vectors[1], 1], atol=1e-6)


def test_tokenize_names_every_token_and_its_place(app, bert):
    text = "The crack!"
    found = ask(app, "/tokenize", {"inputs": text}).json[0]
    assert (found[0]["text"], found[-1]["text"]) == ("[CLS]", "[SEP]")
    inner = found[1:-1]
    assert [one["id"] for one in inner] == bert.tokenizer.backend.encode(text, add_special_tokens=False).ids
    assert all(text[one["start"] : one["stop"]] == one["text"] for one in inner)
    assert ask(app, "/tokenize", {"inputs": text, "add_special_tokens": False}).json[0] == inner


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("elmo", ["<S>", "The", "crack", "!", "</S>"]),
        ("awd", ["xxbos", "xxmaj", "the", "crack", "xxunk"]),
        ("classify", ["The", "crack", "!"]),
        ("bert", None),
    ],
)
def test_embed_all_has_a_row_for_each_token_of_tokenize(app, name, wanted):
    body = {"inputs": "The crack!", "model": name}
    found = ask(app, "/tokenize", body).json[0]
    assert len(ask(app, "/embed_all", body).json[0]) == len(found)
    if wanted:
        assert [one["text"] for one in found] == wanted
        assert [one["special"] for one in found] == [one["start"] is None for one in found]
        words = ask(app, "/tokenize", {**body, "add_special_tokens": False}).json[0]
        assert words == [one for one in found if not one["special"]]
        assert words[-2]["start"] == 4


@pytest.fixture
def prompted(bert):
    def make(**settings):
        said = {"pooling": "mean", "normalise": False, "prompts": {"query": "the wall "}, **settings}
        model = Model("prompted", replace(bert, provenance={**bert.provenance, "sentence": said}))
        return make_app(Service(Models({"prompted": model}), Limits()))

    return make


@pytest.mark.parametrize("path", ["/embed", "/embed_all", "/tokenize"])
def test_a_prompt_is_put_before_the_text(prompted, path):
    app = prompted()
    plain, longer = ask(app, path, {"inputs": "bats fly"}), ask(app, path, {"inputs": "the wall bats fly"})
    asked = ask(app, path, {"inputs": "bats fly", "prompt_name": "query"})
    assert asked.json == longer.json != plain.json
    assert ask(app, path, {"inputs": "bats fly", "prompt_name": "other"}).status == 413
    assert ask(prompted(default_prompt="query"), path, {"inputs": "bats fly"}).json == longer.json


def test_a_prompt_that_is_not_to_be_pooled_is_refused(prompted):
    app, body = prompted(include_prompt=False), {"inputs": "bats fly", "prompt_name": "query"}
    assert ask(app, "/embed", body).status == 424
    assert ask(app, "/embed", {"inputs": "bats fly"}).status == 200
    assert ask(app, "/embed_all", body).status == 200  # nothing is pooled
    assert ask(prompted(include_prompt=False, default_prompt="query"), "/embed", {"inputs": "bats fly"}).status == 424


def test_info_tells_models_and_every_limit(app, service):
    info = ask(app, "/info").json
    assert info["model_id"] == "bert"
    assert info["model_type"] == {"embedding": {"pooling": "mean"}}
    assert info["limits"] == vars(service.limits)
    assert {one["name"]: one["task"] for one in info["models"]}["tag"] == "tag"


def test_metrics_count_requests_and_tokens_and_hold_no_text(app):
    ask(app, "/embed", {"inputs": "the crack in the wall"})
    ask(app, "/secret-path", None)
    text = ask(app, "/metrics").content.decode()
    assert 'polyseme_requests_total{route="/embed",status="200"}' in text
    assert 'polyseme_requests_total{route="other",status="404"}' in text
    assert 'polyseme_tokens_total{model="bert"}' in text
    assert "crack" not in text
    assert "secret" not in text


def test_health_is_empty_and_well(app):
    assert (ask(app, "/health").status, ask(app, "/health").content) == (200, b"")


@pytest.mark.parametrize(
    "path, body, status, kind",
    [
        ("/embed", {"inputs": []}, 422, "Tokenizer"),
        ("/embed", {"inputs": ""}, 400, "Empty"),
        ("/embed", {"inputs": ["a"] * 41}, 413, "Validation"),
        ("/embed", {"inputs": "a " * 300}, 413, "Validation"),
        ("/embed", {"inputs": "a" * 4000}, 413, "Validation"),
        ("/embed", {"inputs": "a", "prompt_name": "query"}, 413, "Validation"),
        ("/embed", {"inputs": "a", "model": "brt"}, 404, "NotFound"),
        ("/predict", {"inputs": "a", "raw_scores": True}, 413, "Validation"),
        ("/predict", {"inputs": [["a", "b", "c"]]}, 422, "Tokenizer"),
        ("/nothing", None, 404, "NotFound"),
    ],
)
def test_errors_have_the_shape_and_codes_of_text_embeddings_inference(app, path, body, status, kind):
    answer = ask(app, path, body)
    assert (answer.status, answer.json["error_type"]) == (status, kind), answer.content
    assert answer.json["error"]


def test_a_full_queue_answers_429_with_retry_after(app, service, monkeypatch):
    monkeypatch.setattr(service.batcher, "waiting", service.limits.waiting_tokens)
    for path, body in (("/embed", {"inputs": "a"}), ("/v1/embeddings", {"input": "a", "model": "bert"})):
        answer = ask(app, path, body)
        assert answer.status == 429
        assert int(answer.headers["retry-after"]) >= 1
    monkeypatch.undo()
    assert ask(app, "/embed", {"inputs": "a"}).status == 200
