import base64

import numpy as np
import pytest
from serving import ask

pytest.importorskip("fastapi")
from polyseme.encoders.sentences import sentence_vectors
from polyseme.serve.app import make_app
from polyseme.serve.limits import Limits
from polyseme.serve.models import Model, Models
from polyseme.serve.service import Service


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def vectors_of(answer):
    assert answer.status == 200, answer.content
    return np.array([one["embedding"] for one in answer.json["data"]])


@pytest.fixture(scope="module")
def bert(service):
    return service.models.named("bert").pretrained


def test_texts_get_the_sentence_vectors_of_the_model_with_length_one(app, bert):
    texts = ["the crack in the wall", "bats fly at night", "a"]
    answer = ask(app, "/v1/embeddings", {"input": texts, "model": "bert"})
    np.testing.assert_allclose(vectors_of(answer), unit(sentence_vectors(bert, texts)), atol=1e-6)
    assert [one["index"] for one in answer.json["data"]] == [0, 1, 2]
    assert answer.json["usage"]["prompt_tokens"] == answer.json["usage"]["total_tokens"] > 9
    one = ask(app, "/v1/embeddings", {"input": texts[0], "model": "bert"})
    np.testing.assert_allclose(vectors_of(one)[0], vectors_of(answer)[0], atol=1e-6)


def test_base64_holds_the_same_numbers(app):
    body = {"input": "the crack in the wall", "model": "bert"}
    plain = vectors_of(ask(app, "/v1/embeddings", body))
    packed = ask(app, "/v1/embeddings", {**body, "encoding_format": "base64"}).json["data"][0]["embedding"]
    assert np.frombuffer(base64.b64decode(packed), "<f4").tolist() == plain[0].astype("f4").tolist()


def test_fewer_dimensions_are_the_first_ones_with_length_one(app):
    body = {"input": "the crack in the wall", "model": "bert"}
    whole = vectors_of(ask(app, "/v1/embeddings", body))
    short = vectors_of(ask(app, "/v1/embeddings", {**body, "dimensions": 5}))
    np.testing.assert_allclose(short, unit(whole[:, :5]), atol=1e-6)
    assert ask(app, "/v1/embeddings", {**body, "dimensions": 33}).status == 400


def test_ids_of_pieces_stand_for_the_text(app, bert):
    texts = ["the crack in the wall", "bats fly"]
    ids = [encoding.ids for encoding in bert.tokenizer.backend.encode_batch(texts, add_special_tokens=False)]
    wanted = vectors_of(ask(app, "/v1/embeddings", {"input": texts, "model": "bert"}))
    np.testing.assert_allclose(
        vectors_of(ask(app, "/v1/embeddings", {"input": ids, "model": "bert"})), wanted, atol=1e-6
    )
    one = vectors_of(ask(app, "/v1/embeddings", {"input": ids[0], "model": "bert"}))
    np.testing.assert_allclose(one, wanted[:1], atol=1e-6)
    wrong = ask(app, "/v1/embeddings", {"input": [1, 10**6], "model": "bert"})
    assert wrong.status == 400
    assert "1000000" in wrong.json["error"]["message"]
    assert ask(app, "/v1/embeddings", {"input": [10**30], "model": "bert"}).status == 400
    assert ask(app, "/v1/embeddings", {"input": [1, 2], "model": "elmo"}).status == 400


@pytest.mark.parametrize("name", ["elmo", "awd", "classify"])
def test_encoders_without_pieces_give_the_mean_over_words(app, service, name):
    texts = ["the crack in the wall", "bats fly at night"]
    model = service.models.named(name).pretrained
    answer = ask(app, "/v1/embeddings", {"input": texts, "model": name})
    np.testing.assert_allclose(vectors_of(answer), unit(model.embed(texts, level="text")), atol=1e-5)


def test_models_are_listed(app):
    listed = ask(app, "/v1/models").json
    assert [one["id"] for one in listed["data"]][:2] == ["bert", "elmo"]
    assert ask(app, "/v1/models/elmo").json["object"] == "model"


def test_a_name_may_have_a_slash(bert):
    app = make_app(Service(Models({"org/bert": Model("org/bert", bert)}), Limits()))
    assert ask(app, "/v1/models/org/bert").json["id"] == "org/bert"


@pytest.mark.parametrize(
    "path, body, status, code",
    [
        ("/v1/embeddings", {"input": "a", "model": "brt"}, 404, "model_not_found"),
        ("/v1/models/brt", None, 404, "model_not_found"),
        ("/v1/embeddings", {"input": [], "model": "bert"}, 400, None),
        ("/v1/embeddings", {"input": "", "model": "bert"}, 400, None),
        ("/v1/embeddings", {"input": ["a", ""], "model": "bert"}, 400, None),
        ("/v1/embeddings", {"input": [True], "model": "bert"}, 400, None),
        ("/v1/embeddings", {"input": "a"}, 400, None),
        ("/v1/embeddings", {"input": ["a"] * 41, "model": "bert"}, 400, None),
        ("/v1/embeddings", {"input": "a " * 300, "model": "bert"}, 400, None),
        ("/v1/embeddings", b"{", 400, None),
        ("/v1/nothing", None, 404, None),
    ],
)
def test_errors_have_the_shape_of_openai(app, path, body, status, code):
    answer = ask(app, path, body)
    assert answer.status == status, answer.content
    error = answer.json["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == code
    assert error["message"]
