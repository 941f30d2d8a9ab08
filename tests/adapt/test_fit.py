import random
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from toys import BAD, GOOD, questions, reviews, tagged

from polyseme.adapt import folder, session
from polyseme.adapt.answers import Answers
from polyseme.adapt.classes import Classes
from polyseme.adapt.data import Data
from polyseme.adapt.fit import fit, settled
from polyseme.adapt.numbers import Numbers
from polyseme.adapt.settings import settings
from polyseme.adapt.tagging import Tags
from polyseme.adapt.texts import Texts
from polyseme.encoders.bert import BertEncoder
from polyseme.errors import BadFile, Mistake
from polyseme.train import checkpoint
from polyseme.types import Prediction


@pytest.mark.parametrize("tune", ["full", "gradual"])
def test_every_family_learns_to_tell_classes_apart(any_encoder, tune):
    fitted = fit(
        any_encoder, "classify", reviews(), settings(tune=tune, epochs=12, rate=0.01, head_rate=0.03, block_decay=1.0)
    )
    assert fitted.evaluate(reviews(40, seed=1))["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("tune", "level", "head", "rate"),
    [
        ("full", "text", None, 1e-2), ("full", "text", "linear", 1e-2), ("full", "word", "bilstm", 1e-3),
        ("frozen", "word", None, 3e-2), ("frozen", "word", "bilstm", 3e-3), ("frozen", "text", None, 3e-3),
    ],
)  # fmt: skip
def test_heads_learn_as_fast_as_what_they_read_needs(tiny_static, tune, level, head, rate):
    chosen = settings(tune=tune, head=head).filled(tiny_static.encoder, level, ("linear", "bilstm"), 100)
    assert chosen.head_rate == rate
    assert chosen.rate == 1e-2


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


@pytest.mark.parametrize(
    ("tune", "n_examples", "epochs"),
    [("full", 100_000, 3), ("full", 1_000, 10), ("full", 60, 30), ("frozen", 100_000, 10), ("frozen", 500, 19),
     ("gradual", 100_000, 8), ("gradual", 500, 19)],
)  # fmt: skip
def test_few_examples_are_read_more_often(tiny_bert, tune, n_examples, epochs):
    filled = settings(tune=tune).filled(tiny_bert.encoder, "text", ("linear",), n_examples)
    assert filled.epochs == epochs
    assert settings(tune=tune, epochs=2).filled(tiny_bert.encoder, "text", ("linear",), n_examples).epochs == 2


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


@pytest.mark.parametrize("n_averaged", [0, 9])
def test_the_last_weights_are_averaged(tiny_static, monkeypatch, n_averaged):
    monkeypatch.setattr(session, "_AVERAGED", 3)
    seen, measured = [], []

    class Watched(session.Session):
        def _report(self, now, *rest):
            seen.append(next(self.top.head.parameters()).detach().clone())
            return super()._report(now, *rest)

        def _said(self, data):
            measured.append(next(self.top.head.parameters()).detach().clone())
            return super()._said(data)

    monkeypatch.setattr("polyseme.adapt.fit.Session", Watched)
    chosen = settings(tune="full", epochs=3, batch_size=16, average=n_averaged / 15)
    fitted = fit(tiny_static, "classify", reviews(80), chosen, reviews(20, seed=1))
    assert len(seen) == 15
    wanted = torch.stack([seen[8], seen[11], seen[14]]).mean(0) if n_averaged else seen[-1]
    torch.testing.assert_close(next(fitted.top.head.parameters()).detach(), wanted)
    torch.testing.assert_close(measured[-1], wanted)  # what is kept is what was measured


def test_an_average_of_less_than_a_step_is_of_the_last_one(tiny_static):
    chosen = settings(tune="full", epochs=1, batch_size=16)
    data = reviews(80), reviews(20, seed=1)
    one, other = (
        fit(deepcopy(tiny_static), "classify", data[0], chosen.model_copy(update={"average": part}), data[1])
        for part in (0.0, 0.01)
    )
    assert torch.equal(next(one.top.head.parameters()), next(other.top.head.parameters()))


@pytest.mark.parametrize("more", [{}, {"average": 0.9}, {"patience": 1, "head": "ulmfit", "head_rate": 1e-9}], ids=str)
@pytest.mark.parametrize("tune", ["full", "frozen", "gradual"])
def test_a_killed_fit_goes_on_and_ends_byte_equal(any_encoder, tune, more, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_SAVE_EVERY", 0.0)
    monkeypatch.setattr(session, "_AVERAGED", 5)
    chosen = settings(tune=tune, epochs=3, batch_size=16, **more)
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
    assert len(deaths) >= (2 if "patience" in more else 3)  # it may end before the third
    for one, other in ((whole.top, broken.top), (whole.pretrained.encoder, broken.pretrained.encoder)):
        for name, tensor in one.state_dict().items():
            assert torch.equal(tensor, other.state_dict()[name]), name
    assert (tmp_path / "whole/metrics.jsonl").read_text() == (tmp_path / "broken/metrics.jsonl").read_text()


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


HOPELESS = {"tune": "frozen", "epochs": 1, "head_rate": 1e-12, "cache": False}


def collapsing(pretrained, seed, folder=None, die=0):
    """A fit that can only say one class, and what each attempt comes to; it may die behind so many of them."""
    valid, heard = Data(["bats fly"] * 20, ["neg"] * 15 + ["pos"] * 5), []

    def tell(report):
        heard.append(report.metrics or report.said)
        if die and not report.said and len([one for one in heard if isinstance(one, str) and one]) == die:
            raise InterruptedError

    fitted = fit(pretrained, "classify", reviews(40), settings(**HOPELESS, seed=seed), valid, folder, tell)
    return fitted, [one["accuracy"] for one in heard if isinstance(one, dict)]


def test_of_attempts_that_all_collapse_the_best_is_kept(tiny_static):
    tried = [collapsing(tiny_static, seed) for seed in range(6)]
    assert {len(scores) for _, scores in tried} >= {4}  # of some the third was not the best
    for fitted, scores in tried:
        assert fitted.metrics["accuracy"] == scores[-1] == max(scores)


def test_killed_at_every_new_attempt_the_best_is_still_kept(tiny_static, tmp_path):
    seed = next(seed for seed in range(6) if len(collapsing(tiny_static, seed)[1]) == 4)
    whole, _ = collapsing(tiny_static, seed)
    for n_before in range(3):
        with pytest.raises(InterruptedError):
            collapsing(tiny_static, seed, tmp_path, die=n_before + 1)
    again, scores = collapsing(tiny_static, seed, tmp_path)
    assert len(scores) == 1
    assert again.metrics == whole.metrics
    for name, tensor in whole.top.state_dict().items():
        assert torch.equal(tensor, again.top.state_dict()[name])


def test_tags_that_are_all_alike_are_no_collapse_where_they_should_be():
    kind, said = Tags(("B-X", "O"), True), [Prediction(["O", "O"])]
    assert not kind.collapsed(said, [["O", "O"]])
    assert kind.collapsed(said, [["O", "I-X"]])


def test_a_frozen_fit_that_diverges_names_the_rate_that_learned(tiny_static):
    chosen = settings(tune="frozen", head_rate=1e38, epochs=3, cache=False, warm_up=0.0, batch_size=8)
    with pytest.raises(Mistake, match=r"ower .*e\+3[78]"):
        fit(tiny_static, "classify", reviews(40), chosen)


def test_a_frozen_encoder_is_left_as_it_is_and_not_copied(tiny_bert, monkeypatch):
    monkeypatch.setattr("polyseme.adapt.fit._weights", lambda encoder: pytest.fail("it cannot change"))
    tiny_bert.encoder.requires_grad_(True)
    fit(tiny_bert, "classify", reviews(40), settings(tune="frozen", epochs=1, cache=False))
    assert all(parameter.requires_grad for parameter in tiny_bert.encoder.parameters())


def test_numbers_keep_their_digits(tiny_static, tmp_path):
    """Float32 would make one of all seconds of a day, and cannot say 1e39 at all."""
    data = reviews(40)
    for low, high in ((1.7e9, 1.7e9 + 60), (0.0, 1e39)):
        numbers = Data(data.inputs, [low if label == "neg" else high for label in data.labels])
        fitted = fit(tiny_static, "regress", numbers, settings(tune="frozen", epochs=40, head_rate=0.05, cache=False))
        said = [one.label for one in fitted.predict(data.inputs)]
        assert max(abs(one - wanted) for one, wanted in zip(said, numbers.labels, strict=True)) < 0.4 * (high - low)
        folder.save(fitted, tmp_path / "m", "regress", force=True)
        assert [one.label for one in folder.load_fitted(tmp_path / "m")[0].predict(data.inputs)] == said


def test_a_model_whose_scale_was_kept_in_float32_is_read(tiny_static, tmp_path):
    data = reviews(40)
    numbers = Data(data.inputs, [float(label == "neg") for label in data.labels])
    fitted = fit(tiny_static, "regress", numbers, settings(tune="frozen", epochs=1, cache=False))
    folder.save(fitted, tmp_path / "m", "regress")
    path = tmp_path / "m" / "top.safetensors"
    save_file({name: tensor.float() for name, tensor in load_file(path).items()}, path)
    again, _ = folder.load_fitted(tmp_path / "m")
    assert again.top.head.target_mean.dtype == torch.double
    assert again.predict(data.inputs[:1])[0].label == pytest.approx(fitted.predict(data.inputs[:1])[0].label)


@pytest.mark.parametrize(
    "task, chosen, problem",
    [
        ("span", {"head": "bilstm"}, "head='bilstm' is none of those"),
        ("span", {"crf": True}, "crf=True changes nothing"),
        ("span", {"pool": "concat"}, "pool='concat' makes one row"),
        ("tag", {"pool": "mean"}, "pool='mean' makes one row"),
        ("tag", {"most_windows": 2}, "most_windows=2 changes nothing"),
        ("tag", {"head": "ulmfit"}, "head='ulmfit' is none of those"),
        ("classify", {"mix_norm": True}, "mix_norm and mix_penalty are for layers=.mix."),
        ("classify", {"crf": True}, "crf=True changes nothing"),
        ("classify", {"pairs": "apart"}, "pairs='apart' changes nothing"),
        ("classify", {"head": "bilstm", "pool": "concat"}, "pool='concat' makes one row"),
        ("pair", {"head": "ulmfit"}, "head='ulmfit' is none of those"),
    ],
)
def test_what_a_task_does_not_read_is_refused(tiny_static, task, chosen, problem):
    pairs = Data([(text, "a film") for text in reviews(8).inputs], reviews(8).labels)
    data = {"span": questions(8), "tag": tagged(8), "classify": reviews(8), "pair": pairs}[task]
    with pytest.raises(Mistake, match=problem):
        fit(tiny_static, task, data, settings(tune="frozen", epochs=1, cache=False, **chosen))


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
        (Data(["a text"], ["x"]), "classify", "Two are the least"),
        (Data(["a text", "another"], [1.0, 1.0]), "regress", "nothing to learn"),
        (Data(["a text", "another"], [1.0, "many"]), "regress", "'many' is no number"),
        (Data(["a text"], ["x"]), "clasify", "Did you mean 'classify'"),
        (Data([("a", "b"), "c"], ["x", "y"]), "pair", "Input 1 is 'c'; wanted a pair"),
        (Data([["a", "b"], ["c"]], [["X", "Y"], ["X", "Y"]]), "tag", "1 words and 2 tags"),
        (Data([("q ?", "a b")], [[]]), "span", "no answer"),
        (Data([("q ?", "a b")], [(0, 1)]), "span", r"Label 0 is \(0, 1\); wanted a list of the spans"),
        (Data(["a text"], [[(0, 1)]]), "span", "Input 0 is 'a text'; wanted a question and its context"),
        (Data(["ab"], [[(0, 1)]]), "span", "Input 0 is 'ab'"),
        (Data(["a text", "another"], [0.0, 1e300]), "regress", "too large"),
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


def test_checkpoints_of_a_fit_are_whole(tiny_static, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_SAVE_EVERY", 0.0)
    fit(tiny_static, "classify", reviews(), settings(tune="frozen", epochs=1), folder=tmp_path)
    assert checkpoint.newest(tmp_path) is not None


def test_another_seed_finds_the_frozen_rows_of_the_first(tiny_bert, tmp_path, monkeypatch):
    """What is held out differs from seed to seed; what is read does not."""
    monkeypatch.setenv("POLYSEME_CACHE", str(tmp_path))
    n_read = []
    tiny_bert.encoder.register_forward_hook(lambda *_: n_read.append(1))
    fit(tiny_bert, "classify", reviews(200), settings(tune="frozen", epochs=2))
    n_first = len(n_read)
    for seed in (1, 2):
        fit(tiny_bert, "classify", reviews(200), settings(tune="frozen", epochs=2, seed=seed))
    assert len(n_read) == n_first > 0
    assert len(list((tmp_path / "layers").iterdir())) == 1


def test_a_bert_that_learns_reads_pairs_by_its_pooler_and_single_texts_by_their_mean(tiny_bert):
    """The pooler was pretrained on pairs; for single texts with few labels the mean is better by far (docs/log.md)."""
    config = tiny_bert.encoder.config.model_copy(update={"adjacent_head": True, "pooler": True})
    made = replace(tiny_bert, encoder=BertEncoder(config))
    for tune, pairs, pool in (
        ("full", "joined", "pooler"), ("frozen", "joined", "mean"), ("full", "apart", "mean"), ("full", None, "mean"),
    ):  # fmt: skip
        kind = Classes(("x", "y"), Texts(pairs), "str")
        assert settled(kind, made, settings(tune=tune), 100).pool == pool


@pytest.mark.parametrize(
    ("scores", "n_examples", "epoch"),
    [
        *[([0.9, 0.8], 1000, 1), ([0.9, 0.8], 10, 2), ([0.81, 0.8], 1000, 2), ([0.8, 0.9], 10, 2)],
        *[([1.0, 1.0], 5, 2), ([1.0, 0.99], 100, 2)],
    ],
)
def test_an_earlier_epoch_is_kept_only_where_it_is_better_beyond_chance(tiny_static, scores, n_examples, epoch):
    fitted = fit(tiny_static, "classify", reviews(20), settings(tune="frozen", epochs=1))
    one = session.Session(fitted, reviews(20), reviews(n_examples), 0, lambda report: None)
    best = max(range(len(scores)), key=scores.__getitem__)
    one.best = {"score": scores[best], "epoch": best + 1}
    one.last = {"score": scores[-1], "epoch": len(scores)}
    assert (one.best if one._goes_back() else one.last)["epoch"] == epoch


def test_a_frozen_head_learns_from_rows_of_any_scale(tiny_static):
    small = deepcopy(tiny_static)
    with torch.no_grad():
        small.encoder.table.weight.mul_(1e-3)
    values = settings(tune="frozen", epochs=3)
    one, other = (fit(some, "classify", reviews(), values, reviews(seed=1)) for some in (tiny_static, small))
    assert one.settings.standardize
    assert one.metrics["accuracy"] == pytest.approx(other.metrics["accuracy"], abs=0.05)


def test_a_mix_of_several_layers_is_left_to_its_gamma(tiny_static, tiny_bert):
    mixed = settings(tune="frozen", layers="mix", epochs=1)
    assert fit(tiny_static, "classify", reviews(20), mixed).settings.standardize
    assert not fit(tiny_bert, "classify", reviews(20), mixed).settings.standardize
    assert not fit(tiny_bert, "classify", reviews(20), settings(tune="full", epochs=1)).settings.standardize


def test_classes_that_differ_in_length_are_told_apart_on_standardised_rows(tiny_static):
    """Batches hold texts of like length: measured by themselves, they would lose just that."""
    draw = random.Random(0)
    texts = [" ".join(draw.choices(GOOD if n % 2 else BAD, k=12 if n % 2 else 2)) for n in range(400)]
    data = Data(texts, ["long" if n % 2 else "short" for n in range(400)])
    fitted = fit(tiny_static, "classify", data.take(range(300)), settings(tune="frozen", epochs=10))
    assert fitted.evaluate(data.take(range(300, 400)))["accuracy"] > 0.9


def test_rows_of_an_encoder_that_learns_are_not_standardised(tiny_bert):
    with pytest.raises(Mistake, match="for a frozen encoder"):
        fit(tiny_bert, "classify", reviews(20), settings(tune="full", standardize=True))


def test_what_is_beyond_chance_goes_by_what_a_task_counts():
    texts = [["a", "b", "c", "d"]] * 100
    spans = Data(texts, [["B-X", "O", "B-X", "O"]] * 100)
    parts = Data(texts, [["N", "V", "N", "V"]] * 100)
    assert Tags(("B-X", "O"), True).interval(0.8, spans).error == pytest.approx((0.16 / 200) ** 0.5, rel=0.15)
    assert Tags(("N", "V"), False).interval(0.8, parts).error == pytest.approx((0.16 / 400) ** 0.5, rel=0.15)
    numbers = Data(["a"] * 100, list(range(100)))
    assert Numbers(Texts(None)).interval(0.0, numbers).error == pytest.approx(0.1, rel=0.15)
    answers = Data([("who", "a b")] * 100, [[(0, 1)]] * 100)
    assert Answers("apart").interval(0.8, answers).error == pytest.approx((0.16 / 100) ** 0.5, rel=0.15)
