import numpy as np
import pytest
import torch
from serving import ask

pytest.importorskip("fastapi")
from polyseme.serve.app import make_app
from polyseme.serve.limits import Limits
from polyseme.serve.models import load_models
from polyseme.serve.service import Service

TEXT = "the film was great , the movie is not bad ."
WORDS = TEXT.split()


@pytest.fixture(scope="module")
def looked(folders, mixed):
    places = [mixed / "films", mixed / "names", *(folders / name for name in ("classify", "pair", "regress", "span"))]
    return Service(load_models([str(place) for place in places]), Limits(tokens_per_input=200, inputs=40))


@pytest.fixture(scope="module")
def looking(looked):
    return make_app(looked)


def test_the_mix_of_each_fitted_model_is_told(looking, looked):
    found = ask(looking, "/looking").json
    films = next(one for one in found["models"] if one["name"] == "films")
    mix = looked.models.named("films").fitted.top.mix
    assert films["weights"] == pytest.approx(mix.weights.tolist())
    assert films["gamma"] == pytest.approx(mix.gamma.item())
    assert (films["layers"], films["labels"], films["pairs"]) == ([0, 1, 2], ["neg", "pos"], False)
    by_name = {one["name"]: one for one in found["models"]}
    assert by_name["classify"]["weights"] is None
    assert by_name["pair"]["pairs"]
    assert "I-PER" in by_name["names"]["labels"] or "B-PER" in by_name["names"]["labels"]
    assert not found["report"]


def test_the_learned_mix_says_what_the_model_says(looking, looked):
    mix = looked.models.named("films").fitted.top.mix
    learned = {"weights": (7 * mix.weights).tolist(), "gamma": mix.gamma.item()}  # scaled to 1 in all
    found = ask(looking, "/layers", {"text": TEXT, "model": "films", **learned}).json
    wanted = ask(looking, "/classify", {"inputs": [TEXT], "model": "films"}).json[0]
    assert found["label"] == wanted["label"]
    assert found["scores"] == pytest.approx(wanted["scores"], abs=1e-5)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_another_mix_is_that_of_a_model_with_its_weights(looking, looked, layer):
    fitted = looked.models.named("films").fitted
    before = {name: tensor.clone() for name, tensor in fitted.top.state_dict().items()}
    weights = [1.0 if number == layer else 0.0 for number in range(3)]
    found = ask(looking, "/layers", {"text": TEXT, "model": "films", "weights": weights, "gamma": 0.7}).json
    with torch.inference_mode():
        inputs = fitted.kind.inputs(fitted.pretrained, [TEXT], fitted.settings)
        encoder = fitted.pretrained.encoder
        rows = fitted.top.reading.rows(encoder, encoder(inputs.batch), inputs.batch, 1)
        features = fitted.top.features(rows)
        wanted = fitted.top.head(
            type(features)(0.7 * rows.layers[layer], rows.offsets, 0.7 * rows.layers[layer])
        ).softmax(1)
    assert list(found["scores"].values()) == pytest.approx(wanted[0].tolist(), abs=1e-5)
    for name, tensor in fitted.top.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_tags_are_given_with_another_mix(looking):
    found = ask(looking, "/layers", {"text": "John visited Paris", "model": "names", "weights": [1, 1, 1]}).json
    assert found["words"] == ["John", "visited", "Paris"]
    assert len(found["label"]) == 3


@pytest.mark.parametrize(
    "changed, status",
    [
        ({"weights": [1, 1]}, 422),
        ({"weights": [0, 0, 0]}, 422),
        ({"weights": [1, 1, -1]}, 422),
        ({"weights": [1, 1, 1e300]}, 422),
        ({"gamma": 1e300}, 422),
        ({"model": "classify"}, 424),
        ({"model": "absent"}, 404),
        ({"second": "a film"}, 422),
        ({"text": "a " * 20_000}, 413),
    ],
)
def test_a_mix_that_cannot_be_is_refused(looking, changed, status):
    answer = ask(looking, "/layers", {"text": TEXT, "model": "films", "weights": [1, 1, 1], **changed})
    assert answer.status == status
    assert answer.json["error"]


@pytest.mark.parametrize("name", ["films", "classify"])
def test_a_word_contributed_what_the_score_falls_without_it(looking, looked, name):
    found = ask(looking, "/contributions", {"text": TEXT, "model": name}).json
    fitted = looked.models.named(name).fitted
    whole = fitted.predict([TEXT])[0]
    without = fitted.predict([WORDS[:place] + WORDS[place + 1 :] for place in range(len(WORDS))])
    assert (found["label"], found["texts"][0]["words"]) == (whole.label, WORDS)
    falls = [whole.scores[whole.label] - one.scores[whole.label] for one in without]
    np.testing.assert_allclose(found["texts"][0]["falls"], falls, atol=1e-5)
    assert max(map(abs, falls)) > 0.01


def test_words_of_both_texts_of_a_pair_and_of_numbers_contribute(looking, looked):
    pair = looked.models.named("pair").fitted
    found = ask(looking, "/contributions", {"text": "a good film", "second": "not bad", "model": "pair"}).json
    assert [len(one["falls"]) for one in found["texts"]] == [3, 2]
    whole, less = pair.predict([("a good film", "not bad"), ("a good film", "not")])
    fall = whole.scores[whole.label] - less.scores[whole.label]
    assert found["texts"][1]["falls"][1] == pytest.approx(fall, abs=1e-5)
    found = ask(looking, "/contributions", {"text": "a good film", "model": "regress"}).json
    whole, less = looked.models.named("regress").fitted.predict(["a good film", "a film"])
    assert found["texts"][0]["falls"][1] == pytest.approx(whole.label - less.label, abs=1e-5)


def test_every_word_contributes_to_the_tag_of_every_other(looking, looked):
    words = ["John", "visited", "Paris", "."]
    found = ask(looking, "/contributions", {"text": " ".join(words), "model": "names"}).json
    fitted = looked.models.named("names").fitted
    assert found["label"] == fitted.predict([words])[0].label
    falls = found["texts"][0]["falls"]
    assert [[one is None for one in row] for row in falls] == np.eye(4, dtype=bool).tolist()
    tag = fitted.kind.names.index(found["label"][2])

    def chance(some, place):
        with torch.inference_mode():
            inputs = fitted.kind.inputs(fitted.pretrained, [some], fitted.settings)
            encoder = fitted.pretrained.encoder
            rows = fitted.top.reading.rows(encoder, encoder(inputs.batch), inputs.batch, 1)
            return float(fitted.top.head(fitted.top.features(rows)).softmax(1)[place, tag])

    assert found["chances"][2] == pytest.approx(chance(words, 2), abs=1e-5)
    assert falls[1][2] == pytest.approx(chance(words, 2) - chance(["John", "Paris", "."], 1), abs=1e-5)


@pytest.mark.parametrize("name", ["films", "names", "regress"])
def test_a_text_without_words_has_no_contributions(looking, name):
    answer = ask(looking, "/contributions", {"text": " ", "model": name})
    assert answer.status == 200
    assert answer.json["texts"][0] == {"words": [], "spans": [], "falls": []}


def test_more_words_than_can_be_left_out_are_refused(looking):
    answer = ask(looking, "/contributions", {"text": "film " * 40, "model": "films"})
    assert answer.status == 413
    assert "40 words" in answer.json["error"]
    assert ask(looking, "/contributions", {"text": "who ?", "model": "span"}).status == 424


@pytest.mark.parametrize("path", ["/contributions", "/layers"])
@pytest.mark.parametrize("name", ["films", "names"])
def test_a_second_text_is_refused_where_one_is_read(looking, path, name):
    body = {"text": "John visited Paris", "second": "a film", "model": name, "weights": [1, 1, 1]}
    answer = ask(looking, path, body)
    assert answer.status == 422
    assert "one text" in answer.json["error"]


def test_what_would_cost_too_much_is_refused_before_it_is_written_out(looked, monkeypatch):
    app = make_app(Service(looked.models, Limits(waiting_tokens=1000)))
    monkeypatch.setattr("polyseme.serve.looking._without_each", None)
    answer = ask(app, "/contributions", {"text": "film " * 35, "model": "films"})
    assert (answer.status, "1260 tokens" in answer.json["error"]) == (413, True)
