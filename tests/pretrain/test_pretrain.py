"""Pretraining an ELMo: it learns, and a run that was killed ends with the same bytes."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import polyseme
from polyseme.errors import Mistake
from polyseme.lens.fill import fill
from polyseme.lens.score import score, total
from polyseme.pretrain import pretrain, recipe
from polyseme.train import optim

SETTINGS = [
    *("encoder.width=16", "encoder.cell_width=24", "encoder.filters=[[1,8],[2,8]]", "encoder.n_highway=1"),
    *("rows=4", "unroll=8", "epochs=3", "encoder.dropout=0.1", "rate=0.01"),
]


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "elmo"
    return pretrain(recipe("elmo-tiny", SETTINGS), [str(corpus)], out)


def weights(out: Path) -> bytes:
    return (out / "model" / "model.safetensors").read_bytes()


def test_it_learns_the_grammar(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    perplexities = [line["perplexity"] for line in lines if "perplexity" in line]
    assert len(perplexities) == 9  # three times in each of three epochs
    assert perplexities[-1] < perplexities[0]
    assert perplexities[-1] < 2.2  # three choices in three places of seven would be 1.6, chance among the words 17


def test_the_model_holds_its_recipe_its_corpus_and_its_metrics(run):
    provenance = polyseme.load(run).provenance
    assert provenance["recipe"]["rows"] == 4
    assert len(provenance["corpus"]["files"][0]["sha256"]) == 64
    assert provenance["metrics"]["perplexity"] < 2.2
    assert not (run / "checkpoints").exists()


def test_scores_are_those_of_the_full_softmax(run):
    elmo = polyseme.load(run)
    likely, unlikely = score(elmo, ["the cat sleeps at home .", "home at . sleeps cat the"])
    assert likely.perplexity("forward") < 4 < unlikely.perplexity("forward")
    assert likely.perplexity("backward") < 4
    assert likely.n_predicted == 7  # six words and the end
    assert total([likely, unlikely]).nll["forward"] == likely.nll["forward"] + unlikely.nll["forward"]
    batch = elmo.tokenizer.encode([likely.text])
    with torch.no_grad():
        top = elmo.encoder(batch).layers[-1]
        forward = elmo.lm(top[:-1, :16]).log_softmax(1)
    targets = elmo.tokenizer.numbers(elmo.tokenizer.pieces(batch))[1:]
    wanted = -forward[torch.arange(7), targets].sum().item()
    assert likely.nll["forward"] == pytest.approx(wanted, rel=1e-5)
    assert likely.bits_per_byte() == pytest.approx(sum(likely.nll.values()) / 2 / math.log(2) / 24)


def test_scores_do_not_depend_on_the_company(run):
    elmo = polyseme.load(run)
    texts = [f"the cat {word} here ." for word in ("sleeps", "sings", "waits", "flies")] * 20
    together = list(score(elmo, texts))
    alone = [next(score(elmo, [one])) for one in texts[:4]]
    for one, other in zip(alone, together, strict=False):
        assert one.nll["forward"] == pytest.approx(other.nll["forward"], abs=1e-4)
    assert [one.n_unknown for one in alone] == [0, 0, 0, 1]


def test_a_mask_is_filled_from_both_sides(run):
    (filling,) = fill(polyseme.load(run), "my friend [MASK] in town .", n=3)
    assert {word for word, _ in filling.ways["both"]} == {"sleeps", "sings", "waits"}
    assert {word for word, _ in filling.ways["forward"]} == {"sleeps", "sings", "waits"}
    with pytest.raises(Mistake, match=r"no \[MASK\]"):
        fill(polyseme.load(run), "my friend")


def test_the_same_recipe_gives_the_same_bytes_and_another_seed_others(corpus, run, tmp_path):
    again = pretrain(recipe("elmo-tiny", SETTINGS), [str(corpus)], tmp_path / "again")
    other = pretrain(recipe("elmo-tiny", [*SETTINGS, "seed=2"]), [str(corpus)], tmp_path / "other")
    assert weights(again) == weights(run) != weights(other)


def test_killed_at_random_moments_it_ends_with_the_same_bytes(corpus, run, run_with_kills, tmp_path):
    assert run_with_kills("elmo-tiny", corpus, tmp_path / "killed", SETTINGS, kills=2) >= 1
    assert weights(tmp_path / "killed") == weights(run)
    logs = [(folder / "metrics.jsonl").read_text() for folder in (tmp_path / "killed", run)]
    assert logs[0] == logs[1]


@pytest.mark.slow
def test_killed_ten_times_it_ends_with_the_same_bytes(corpus, run_with_kills, tmp_path):
    settings = [*SETTINGS, "epochs=15"]
    whole = pretrain(recipe("elmo-tiny", settings), [str(corpus)], tmp_path / "whole")
    assert run_with_kills("elmo-tiny", corpus, tmp_path / "killed", settings, kills=10) == 10
    assert weights(tmp_path / "killed") == weights(whole)


def test_going_on_from_an_own_model_keeps_its_words(run, grammar, tmp_path):
    (tmp_path / "more.txt").write_text(grammar(100, seed=9).replace("cat", "parrot"))
    more = pretrain(
        recipe("elmo-tiny", ["rows=4", "unroll=8", "epochs=1", "encoder.dropout=0.25"]),
        [str(tmp_path / "more.txt")],
        tmp_path / "out",
        init=run,
    )
    before, after = polyseme.load(run), polyseme.load(more)
    assert after.tokenizer == before.tokenizer
    assert after.encoder.widths == before.encoder.widths
    assert not after.lm.weight.equal(before.lm.weight)
    assert after.encoder.config.dropout == after.provenance["recipe"]["encoder"]["dropout"] == 0.25
    assert after.provenance["init"] == before.provenance


def test_going_on_from_a_released_model_gives_it_a_softmax(run, tmp_path, corpus):
    released = polyseme.load(run)
    polyseme.save(polyseme.Pretrained(released.tokenizer, released.encoder), tmp_path / "released", format="elmo_hdf5")
    assert polyseme.load(tmp_path / "released").lm is None
    with pytest.raises(Mistake, match="no output layer"):
        next(score(polyseme.load(tmp_path / "released"), ["the cat"]))
    out = pretrain(
        recipe("elmo-tiny", ["rows=4", "unroll=8", "epochs=1"]),
        [str(corpus)],
        tmp_path / "out",
        init=tmp_path / "released",
    )
    assert polyseme.load(out).lm is not None


def test_the_sampled_loss_learns_too(corpus, tmp_path):
    settings = [*SETTINGS, "loss=sampled", "n_samples=8", "epochs=4"]
    out = pretrain(recipe("elmo-tiny", settings), [str(corpus)], tmp_path / "out")
    assert polyseme.load(out).provenance["metrics"]["perplexity"] < 5


def test_adagrad_is_the_papers(corpus, tmp_path, monkeypatch):
    settings = [*SETTINGS, "optimizer=adagrad", "rate=0.2", "schedule=constant"]
    make, made = optim.make, []
    monkeypatch.setattr(optim, "make", lambda *given, **named: made.append(make(*given, **named)) or made[-1])
    out = pretrain(recipe("elmo-tiny", settings), [str(corpus)], tmp_path / "out")
    (optimizer,) = made
    assert isinstance(optimizer, torch.optim.Adagrad)
    assert {(group["lr"], group["initial_accumulator_value"]) for group in optimizer.param_groups} == {(0.2, 1.0)}
    assert polyseme.load(out).provenance["metrics"]["perplexity"] < 8


def test_too_little_text_is_told(tmp_path):
    (tmp_path / "short.txt").write_text("one two three\n\nfour five six\n")
    with pytest.raises(Mistake, match="too few for 32 rows"):
        pretrain(recipe("elmo-tiny"), [str(tmp_path / "short.txt")], tmp_path / "out")


def test_vectors_of_the_model_are_stateless(run):
    elmo = polyseme.load(run)
    one = elmo.embed(["the cat sleeps here ."], layers="all")[0]
    elmo.embed(["a dog waits at home ."] * 3)
    assert np.array_equal(elmo.embed(["the cat sleeps here ."], layers="all")[0], one)
    assert one.shape == (3, 5, 32)
    forward = elmo.embed(["the cat sleeps here ."], layers="all", directions="forward")[0]
    assert np.array_equal(forward, one[:, :, :16])
