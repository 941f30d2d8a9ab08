import numpy as np
import pytest
from pydantic import ValidationError
from serving import ask

pytest.importorskip("fastapi")
from polyseme.lens.fill import fill
from polyseme.lens.score import score
from polyseme.serve.senses import SensesRequest

TEXTS = ["the crack in the wall", "bats fly at night .", ["New York", "is", "high"]]


@pytest.mark.parametrize("name", ["bert", "elmo", "awd", "classify"])
@pytest.mark.parametrize("layers", ["top", 0, "mix", "all"])
def test_words_come_with_the_vectors_of_embed(app, service, name, layers):
    model = service.models.named(name).pretrained
    answer = ask(app, "/words", {"inputs": TEXTS, "layers": layers, "model": name})
    if name == "awd" and layers in ("mix", "all"):
        assert answer.status == 422
        assert "one width" in answer.json["error"]
        return
    wanted = model.embed(TEXTS, layers=layers)
    for given, vectors in zip(answer.json, wanted, strict=True):
        np.testing.assert_allclose(given["vectors"], vectors, atol=1e-5)
    assert answer.json[2]["words"] == TEXTS[2]
    assert answer.json[0]["spans"][1] == [4, 9]


def test_one_text_stands_for_a_list_of_it(app):
    for path, one in {
        "/words": {"inputs": TEXTS[0]},
        "/fill": {"inputs": "the [MASK] in the wall", "model": "bert"},
        "/score": {"inputs": TEXTS[0], "model": "bert"},
        "/tag": {"inputs": TEXTS[0], "model": "tag"},
        "/classify": {"inputs": TEXTS[0], "model": "classify"},
        "/answer": {"inputs": {"question": "where ?", "context": TEXTS[0]}, "model": "span"},
    }.items():
        alone = ask(app, path, one)
        assert alone.status == 200, (path, alone.json)
        assert alone.json == ask(app, path, {**one, "inputs": [one["inputs"]]}).json
        assert len(alone.json) == 1


def test_a_direction_of_elmo_can_be_asked_for(app, service):
    model = service.models.named("elmo").pretrained
    answer = ask(app, "/words", {"inputs": TEXTS, "directions": "forward", "model": "elmo"})
    np.testing.assert_allclose(answer.json[0]["vectors"], model.embed(TEXTS, directions="forward")[0], atol=1e-5)
    assert ask(app, "/words", {"inputs": TEXTS, "directions": "forward"}).status == 422


def test_texts_longer_than_the_window_keep_all_their_words(app, service):
    long = "the red river bank was high at night " * 8
    answer = ask(app, "/words", {"inputs": [long, ""]})
    model = service.models.named("bert").pretrained
    np.testing.assert_allclose(answer.json[0]["vectors"], model.embed([long])[0], atol=1e-5)
    assert answer.json[1] == {"words": [], "spans": [], "vectors": []}


def test_masks_are_filled_as_by_the_lens(app, service):
    text = "the [MASK] in the [MASK] ."
    for name in ("bert", "awd"):
        model = service.models.named(name).pretrained
        found = ask(app, "/fill", {"inputs": [text, "a [MASK]"], "n": 3, "model": name}).json
        wanted = fill(model, text, 3)
        assert len(found[0]) == 2
        for given, filling in zip(found[0], wanted, strict=True):
            for way, words in filling.ways.items():
                assert [one["word"] for one in given[way]] == [word for word, _ in words]
                np.testing.assert_allclose([one["chance"] for one in given[way]], [c for _, c in words], atol=1e-5)
    assert ask(app, "/fill", {"inputs": ["no mask"]}).status == 422
    assert ask(app, "/fill", {"inputs": [text], "model": "elmo"}).status == 424


def test_texts_are_scored_as_by_the_lens(app, service):
    for name in ("bert", "awd"):
        found = ask(app, "/score", {"inputs": TEXTS, "model": name}).json
        wanted = list(score(service.models.named(name).pretrained, TEXTS))
        np.testing.assert_allclose(
            [one["perplexity"] for one in found], [one.perplexity() for one in wanted], rtol=1e-4
        )
    assert ask(app, "/score", {"inputs": TEXTS, "model": "awd", "within_word": True}).status == 422


def test_words_are_tagged(app, service):
    inputs = ["John visited Paris .", ["Mary", "visited", "London"], ""]
    found = ask(app, "/tag", {"inputs": inputs}).json
    said = service.models.named("tag").fitted.predict(inputs[:2])
    assert [one["tags"] for one in found] == [*(one.label for one in said), []]
    assert found[0]["words"] == ["John", "visited", "Paris", "."]
    assert ask(app, "/tag", {"inputs": inputs, "model": "classify"}).status == 424


def test_texts_pairs_and_numbers_are_classified(app, service):
    text = "the film was good"
    for name, given in (("classify", text), ("pair", (text, text)), ("regress", text)):
        found = ask(app, "/classify", {"inputs": [given], "model": name}).json[0]
        said = service.models.named(name).fitted.predict([given])[0]
        assert found["label"] == pytest.approx(said.label) if name == "regress" else found["label"] == said.label
        assert (found["scores"] is None) == (name == "regress")
    assert ask(app, "/classify", {"inputs": [text], "model": "pair"}).status == 422
    assert ask(app, "/classify", {"inputs": [""]}).status == 200


def test_questions_are_answered_from_their_contexts(app, service):
    context = "at night John visited Paris early ."
    found = ask(app, "/answer", {"inputs": [{"question": "where ?", "context": context}]}).json[0]
    start, end = service.models.named("span").fitted.predict([("where ?", context)])[0].label
    assert found == {"answer": context[start:end], "start": start, "end": end}
    empty = ask(app, "/answer", {"inputs": [{"question": "", "context": ""}, {"question": "who ?", "context": " "}]})
    assert [one["answer"] for one in empty.json] == ["", ""]


def test_senses_are_the_cosines_of_a_word_in_its_texts(app, service):
    texts = ["the crack in the wall", "Crack was high on crack", "cracks in the river"]
    answer = ask(app, "/senses", {"word": "crack", "inputs": texts, "forms": ["cracks"]})
    found = answer.json
    assert [(one["text"], texts[one["text"]][one["start"] : one["end"]]) for one in found["occurrences"]] == [
        (0, "crack"), (1, "Crack"), (1, "crack"), (2, "cracks"),
    ]  # fmt: skip
    model = service.models.named("bert").pretrained
    vectors = model.embed(texts)
    rows = np.stack([vectors[0][1], vectors[1][0], vectors[1][4], vectors[2][0]])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(found["layers"][-1], rows @ rows.T, atol=1e-5)
    assert len(found["layers"]) == 3
    assert ask(app, "/senses", {"word": "crack", "inputs": texts}).status == 422


def test_forms_that_are_no_words_are_left_at_the_first():
    with pytest.raises(ValidationError) as wrong:
        SensesRequest(word="crack", inputs=["a crack"], forms=[1] * 50)
    assert wrong.value.error_count() == 1
    with pytest.raises(ValidationError, match="at most 100"):
        SensesRequest(word="crack", inputs=["a crack"], forms=["cracks"] * 101)


def test_a_reply_too_large_is_refused_before_it_is_computed(app, service, monkeypatch):
    monkeypatch.setattr(service, "limits", type(service.limits)(reply_numbers=100))
    for path, body in (
        ("/words", {"inputs": TEXTS}),
        ("/embed_all", {"inputs": TEXTS[0]}),
        ("/embed", {"inputs": ["a"] * 9}),
        ("/senses", {"word": "a", "inputs": ["a a a a a a a"]}),
        ("/tokenize", {"inputs": "a " * 30}),
        ("/fill", {"inputs": ["[MASK] wall", "a [MASK]"], "n": 60}),
        ("/fill", {"inputs": ["a [MASK]"], "n": 40, "model": "awd"}),
    ):
        answer = ask(app, path, body)
        assert answer.status == 413, path
        assert "100" in answer.json["error"]
