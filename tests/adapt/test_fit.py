import json
import random

import numpy as np
import pytest
import torch
from toys import BAD, GOOD, questions, reviews, tagged

from polyseme.adapt import folder, session
from polyseme.adapt.data import Data
from polyseme.adapt.fit import fit
from polyseme.adapt.settings import settings
from polyseme.errors import BadFile, Mistake
from polyseme.train import checkpoint


@pytest.mark.parametrize("tune", ["full", "gradual"])
def test_every_family_learns_to_tell_classes_apart(any_encoder, tune):
    fitted = fit(
        any_encoder, "classify", reviews(), settings(tune=tune, epochs=12, rate=0.01, head_rate=0.03, block_decay=1.0)
    )
    assert fitted.evaluate(reviews(40, seed=1))["accuracy"] > 0.9


@pytest.mark.parametrize("name", ["tiny_bert", "tiny_static"])
@pytest.mark.parametrize("options", [{}, {"head": "bilstm"}, {"layers": 0}, {"pool": "concat"}])
def test_a_head_learns_on_frozen_vectors(name, options, request):
    chosen = settings(tune="frozen", epochs=30, head_rate=0.03, **options)
    fitted = fit(request.getfixturevalue(name), "classify", reviews(), chosen)
    assert fitted.evaluate(reviews(40, seed=1))["accuracy"] > 0.9


def test_a_frozen_encoder_stays_as_it_is_and_a_tuned_one_does_not(tiny_bert):
    before = {name: tensor.clone() for name, tensor in tiny_bert.encoder.state_dict().items()}
    fit(tiny_bert, "classify", reviews(40), settings(tune="frozen", epochs=1))
    assert all(torch.equal(before[name], tensor) for name, tensor in tiny_bert.encoder.state_dict().items())
    fit(tiny_bert, "classify", reviews(40), settings(tune="full", epochs=1))
    assert not torch.equal(before["embeddings.words.weight"], tiny_bert.encoder.embeddings.words.weight)


def test_gradual_leaves_what_it_has_not_thawed(tiny_bert):
    before = [[p.clone() for p in block.parameters()] for block in tiny_bert.encoder.blocks()]
    fit(tiny_bert, "classify", reviews(40), settings(tune="gradual", epochs=3))
    changed = [
        any(not torch.equal(old, new) for old, new in zip(olds, block.parameters(), strict=True))
        for olds, block in zip(before, tiny_bert.encoder.blocks(), strict=True)
    ]
    assert changed == [False, False, False, True, True]


@pytest.mark.parametrize("options", [{}, {"head": "bilstm"}, {"crf": True}, {"layers": "mix"}])
def test_tags_of_spans_are_learned_from_iob1_and_given_as_iob2(tiny_bert, options):
    fitted = fit(tiny_bert, "tag", tagged(), settings(tune="frozen", epochs=12, head_rate=0.02, **options))
    assert fitted.evaluate(tagged(20, seed=1))["span_f1"] > 0.95
    assert fitted.predict([["Mary", "visited", "Paris"]])[0].label == ["B-PER", "O", "B-LOC"]


def test_answers_are_found_in_their_contexts(tiny_bert):
    fitted = fit(tiny_bert, "span", questions(120), settings(tune="full", epochs=10, rate=5e-3, head_rate=0.02))
    test = questions(30, seed=1)
    assert fitted.evaluate(test)["f1"] > 0.8
    start, end = fitted.predict(test.inputs[:1])[0].label
    assert test.inputs[0][1][start:end].strip() == test.inputs[0][1][start:end]


@pytest.mark.parametrize("name", ["tiny_elmo", "tiny_static"])
def test_encoders_that_read_one_text_find_answers_too(name, request):
    fitted = fit(request.getfixturevalue(name), "span", questions(60), settings(tune="frozen", epochs=4))
    assert len(fitted.predict(questions(5).inputs)) == 5


@pytest.mark.parametrize("how", ["joined", "apart"])
def test_pairs_are_classified_joined_and_apart(tiny_bert, how):
    draw = random.Random(0)
    inputs, labels = [], []
    for _ in range(120):
        one, other = draw.choice([GOOD, BAD]), draw.choice([GOOD, BAD])
        inputs.append((f"the film was {draw.choice(one)}", f"the movie is {draw.choice(other)}"))
        labels.append(int(other is GOOD))
    data = Data(inputs, labels)
    fitted = fit(tiny_bert, "pair", data, settings(tune="full", epochs=10, rate=5e-3, head_rate=0.01, pairs=how))
    assert fitted.evaluate(data)["accuracy"] > 0.9
    assert fitted.kind.facts()["names"] == ["0", "1"]


def test_numbers_are_learned_in_their_own_scale(tiny_static):
    data = reviews()
    numbers = Data(data.inputs, [5.0 if label == "pos" else 1.0 for label in data.labels])
    fitted = fit(tiny_static, "regress", numbers, settings(tune="frozen", epochs=20, head_rate=0.02))
    said = [one.label for one in fitted.predict(numbers.inputs)]
    assert fitted.evaluate(numbers)["pearson"] > 0.9
    assert 0 < min(said) < 3 < max(said) < 6


def test_the_mix_learns_and_is_told(tiny_bert):
    fitted = fit(tiny_bert, "classify", reviews(), settings(layers="mix", tune="frozen", epochs=5))
    weights = fitted.top.mix.weights
    assert weights.sum().item() == pytest.approx(1)
    assert not torch.allclose(weights, weights[0])


def test_a_saved_model_says_the_same_when_it_is_loaded(any_encoder, tmp_path):
    fitted = fit(any_encoder, "classify", reviews(), settings(tune="full", epochs=1))
    folder.save(fitted, tmp_path / "m", "classify")
    again, task = folder.load_fitted(tmp_path / "m")
    texts = reviews(10, seed=3).inputs
    assert task == "classify"
    one, other = ([list(said.scores.values()) for said in model.predict(texts)] for model in (fitted, again))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_predictions_do_not_depend_on_the_company(tiny_bert):
    fitted = fit(tiny_bert, "classify", reviews(), settings(tune="full", epochs=1))
    texts = [*reviews(20).inputs, " ".join(["word"] * 100)]
    together = [said.scores["pos"] for said in fitted.predict(texts)]
    alone = [fitted.predict([text])[0].scores["pos"] for text in texts]
    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize("tune", ["full", "frozen"])
def test_a_killed_fit_goes_on_and_ends_byte_equal(any_encoder, tune, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_SAVE_EVERY", 0.0)
    from copy import deepcopy

    chosen = settings(tune=tune, epochs=3, batch_size=16)
    whole = fit(deepcopy(any_encoder), "classify", reviews(), chosen, reviews(20, seed=1), tmp_path / "whole")

    class Kill(Exception):
        pass

    def tell(report):
        if report.stage == "Fitting" and report.done in (2, 7, 11):
            deaths.append(report.done)
            if deaths.count(report.done) == 1:
                raise Kill

    deaths: list[float] = []
    for _ in range(4):
        try:
            broken = fit(
                deepcopy(any_encoder), "classify", reviews(), chosen, reviews(20, seed=1), tmp_path / "broken", tell
            )
            break
        except Kill:
            pass
    assert len(deaths) >= 3
    for one, other in ((whole.top, broken.top), (whole.pretrained.encoder, broken.pretrained.encoder)):
        for name, tensor in one.state_dict().items():
            assert torch.equal(tensor, other.state_dict()[name]), name
    assert (tmp_path / "whole/metrics.jsonl").read_text() == (tmp_path / "broken/metrics.jsonl").read_text()


def test_the_best_epoch_is_kept(tiny_bert, tmp_path):
    valid = reviews(20, seed=1)
    fitted = fit(tiny_bert, "classify", reviews(), settings(tune="full", epochs=4, rate=3e-3), valid, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    best = max(line["accuracy"] for line in lines)
    assert fitted.metrics["accuracy"] == best
    assert fitted.evaluate(valid)["accuracy"] == best


def test_patience_ends_a_fit_that_gains_nothing(tiny_static):
    epochs = []
    fit(
        tiny_static, "classify", reviews(120), settings(tune="frozen", epochs=50, patience=2, head_rate=0.05),
        tell=lambda report: epochs.append(report) if report.metrics else None,
    )  # fmt: skip
    assert len(epochs) < 20


def test_a_collapsed_fit_is_said_and_begun_again(tiny_bert):
    said = []
    hopeless = settings(tune="full", epochs=1, rate=1e-12, head_rate=1e-12)
    fit(tiny_bert, "classify", reviews(40), hopeless, tell=lambda report: said.append(report.said))
    assert sum("one class" in line for line in said) == 2  # then the third is taken as it is


def test_reinit_begins_the_top_blocks_anew(tiny_bert):
    before = [block.state_dict() for block in tiny_bert.encoder.blocks()]
    before = [{name: tensor.clone() for name, tensor in block.items()} for block in before]
    fit(tiny_bert, "classify", reviews(40), settings(tune="full", epochs=1, rate=1e-9, reinit=2))
    moved = [
        max(float((old[name] - tensor).abs().max()) for name, tensor in block.state_dict().items())
        for old, block in zip(before, tiny_bert.encoder.blocks(), strict=True)
    ]
    assert max(moved[:3]) < 1e-5 < min(moved[3:])
    with pytest.raises(Mistake, match="reinit=9"):
        fit(tiny_bert, "classify", reviews(40), settings(tune="full", reinit=9))


@pytest.mark.parametrize(
    "data, task, problem",
    [
        (Data(["a text"], ["x"]), "classify", "Two classes are the least"),
        (Data(["a text", "another"], [1.0, 1.0]), "regress", "nothing to learn"),
        (Data(["a text", "another"], [1.0, "many"]), "regress", "'many' is no number"),
        (Data(["a text"], ["x"]), "clasify", "Did you mean 'classify'"),
        (Data([("a", "b"), "c"], ["x", "y"]), "pair", "Input 1 is 'c'; wanted a pair"),
        (Data([["a", "b"], ["c"]], [["X", "Y"], ["X", "Y"]]), "tag", "1 words and 2 tags"),
        (Data([("q ?", "a b")], [[]]), "span", "no answer"),
    ],
)
def test_what_cannot_be_learned_is_said(tiny_static, data, task, problem):
    with pytest.raises(Mistake, match=problem):
        fit(tiny_static, task, data, settings(tune="frozen", epochs=1))


def test_settings_say_what_is_wrong_with_them():
    with pytest.raises(Mistake, match="Did you mean 'epochs'"):
        settings(epoch=3)
    with pytest.raises(Mistake, match="tune='frosen'"):
        settings(tune="frosen")


def test_layers_of_unequal_width_cannot_be_mixed(tiny_awd):
    with pytest.raises(Mistake, match="one width"):
        fit(tiny_awd, "classify", reviews(), settings(layers="mix", tune="frozen"))


def test_an_encoder_is_no_fitted_model(tmp_path, tiny_bert):
    from polyseme.formats import save

    save(tiny_bert, tmp_path / "encoder")
    with pytest.raises(BadFile, match="has not been fitted"):
        folder.load_fitted(tmp_path / "encoder")


def test_checkpoints_of_a_fit_are_whole(tiny_static, tmp_path):
    fit(tiny_static, "classify", reviews(), settings(tune="frozen", epochs=1), folder=tmp_path)
    assert checkpoint.newest(tmp_path) is not None
