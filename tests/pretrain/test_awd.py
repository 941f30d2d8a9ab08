"""Pretraining an AWD-LSTM: it learns, goes on to another text's words, and resumes exactly."""

import json
import math
from collections import Counter
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import polyseme
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder, TiedDecoder
from polyseme.encoders.awd_pair import apart
from polyseme.errors import Mistake
from polyseme.layers.softmax import Ranking
from polyseme.pretrain import pretrain, recipe
from polyseme.pretrain.awd import (
    AwdObjective,
    Direction,
    LanguageModel,
    activation_penalty,
    temporal_penalty,
)
from polyseme.pretrain.run import _rate
from polyseme.pretrain.run import run as run_to_the_end
from polyseme.pretrain.stream import HeldOut, Stream
from polyseme.text.marked_shards import Pieces
from polyseme.text.marks import SPECIAL
from polyseme.text.words import to_text
from polyseme.train import checkpoint, optim
from polyseme.train.average import add_to_mean

SIZES = ["encoder.embedding_width=16", "encoder.hidden_width=24", "rows=4", "bptt=10", "encoder.dropout_multiplier=0.1"]
SETTINGS = [*SIZES, "epochs=4", "rate=0.05"]
AVERAGES = ["optimizer=nt_asgd", "rate=20", "schedule=constant", "most_norm=0.25", "weight_decay=1.2e-6", "patience=1"]


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "awd"
    return pretrain(recipe("ulmfit-tiny", SETTINGS), [str(corpus)], out)


def weights(out: Path) -> bytes:
    return (out / "model" / "model.safetensors").read_bytes()


def perplexities(out: Path) -> list[float]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line["perplexity"] for line in lines if "perplexity" in line]


def objective(settings=(), backward=(False,), n_words=30, seed=0):
    """An objective over random pieces."""
    torch.manual_seed(seed)
    made = recipe("ulmfit-tiny", [*SIZES, *settings])
    draw = np.random.default_rng(seed)
    text = Pieces(draw.integers(0, n_words, 900).astype(np.uint32), np.array([0, 300, 500, 900]))
    config = made.encoder.model_copy(update={"n_words": n_words})
    directions = [
        Direction(
            way,
            LanguageModel(AwdLstmEncoder(config), TiedDecoder(config)),
            Stream(text, made.rows, made.bptt, made.seed, way),
            HeldOut(text, 3, 16, way),
        )
        for way in backward
    ]
    words = (*SPECIAL, *(f"w{number}" for number in range(n_words - len(SPECIAL))))
    return AwdObjective(made, directions, words, Ranking.of(torch.ones(len(words))), {})


def test_it_learns_far_more_than_how_often_words_come(run, corpus):
    found = perplexities(run)
    pieces = ["xxbos", *corpus.read_text().split()]
    shares = [count / len(pieces) for count in Counter(pieces).values()]
    unigram = math.exp(-sum(share * math.log(share) for share in shares))
    assert len(found) == 8  # twice in each of four epochs
    assert found[-1] < 2.3 < 10 < unigram  # three choices in three places of seven would be 1.6


def test_a_model_that_has_gone_astray_has_an_infinite_perplexity():
    made = objective(backward=(False, True))
    made.directions[0].model.decoder.bias.data[0] = 1e6
    with torch.inference_mode():
        found = made.evaluate()
    assert found["forward_perplexity"] == found["perplexity"] == math.inf
    assert found["backward_perplexity"] < 100


def test_the_model_scores_as_its_output_layer_does(run):
    model = polyseme.load(run)
    assert model.tokenizer.words[: len(SPECIAL)] == SPECIAL
    assert model.provenance["metrics"]["perplexity"] == perplexities(run)[-1]
    assert sorted(path.name for path in run.iterdir()) == [".lock", "metrics.jsonl", "model", "run.json"]
    batch = model.tokenizer.encode([to_text("the cat sleeps in town .")])
    with torch.no_grad():
        logs = model.lm(model.encoder(batch).layers[-1], model.encoder).log_softmax(1)
    likely = [model.tokenizer.words[number] for number in logs.argmax(1).tolist()]
    assert likely[1] == "cat"
    assert likely[4:6] == ["town", "."]


def test_the_same_recipe_gives_the_same_bytes_and_another_seed_others(corpus, run, tmp_path):
    again = pretrain(recipe("ulmfit-tiny", SETTINGS), [str(corpus)], tmp_path / "again")
    other = pretrain(recipe("ulmfit-tiny", [*SETTINGS, "seed=2"]), [str(corpus)], tmp_path / "other")
    assert weights(again) == weights(run) != weights(other)


class Stop(Exception):
    pass


def stopping(every):
    """Tells of a run, and stops it after so many steps."""
    left = every

    def tell(report):
        nonlocal left
        left -= report.stage == "Pretraining"
        if left == 0:
            left = every
            raise Stop

    return tell


@pytest.mark.parametrize("extra", [["directions=both", "epochs=2"], [*AVERAGES, "epochs=5"]])
def test_stopped_and_resumed_it_ends_with_the_same_bytes(corpus, tmp_path, monkeypatch, extra):
    averaged = []
    monkeypatch.setattr(
        "polyseme.train.nt_asgd.add_to_mean",
        lambda *given, **more: (averaged.append(given), add_to_mean(*given, **more)),
    )
    # on which machine's roundings a perplexity rises is a matter of luck
    monkeypatch.setattr("polyseme.train.nt_asgd.triggered", lambda losses, patience: len(losses) > 2)
    wanted = recipe("ulmfit-tiny", [*SETTINGS, *extra])
    whole = pretrain(wanted, [str(corpus)], tmp_path / "whole")
    assert bool(averaged) == (wanted.optimizer == "nt_asgd")
    saves = count(1)
    monkeypatch.setattr("polyseme.pretrain.run._Watch.due", lambda watch: next(saves) % 20 == 0)
    tell, stops = stopping(45), 0
    while not (tmp_path / "stopped" / "model").exists():
        try:
            pretrain(wanted, [str(corpus)], tmp_path / "stopped", tell=tell)
        except Stop:
            stops += 1
    assert stops >= 2
    assert weights(tmp_path / "stopped") == weights(whole)
    assert (tmp_path / "stopped" / "metrics.jsonl").read_text() == (whole / "metrics.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("extra", [[], ["directions=both", *AVERAGES]])
def test_killed_ten_times_it_ends_with_the_same_bytes(corpus, run_with_kills, tmp_path, extra):
    settings = [*SETTINGS, *extra, "epochs=50"]
    whole = pretrain(recipe("ulmfit-tiny", settings), [str(corpus)], tmp_path / "whole")
    assert run_with_kills("ulmfit-tiny", corpus, tmp_path / "killed", settings, kills=10) == 10
    assert weights(tmp_path / "killed") == weights(whole)


def test_penalties_are_the_papers():
    torch.manual_seed(0)
    raw, dropped = torch.randn(3, 7, 5), torch.randn(21, 5)
    ar = sum(float(value) ** 2 for value in dropped.flatten()) / 105
    steps = [(raw[row, step + 1] - raw[row, step]).square() for row in range(3) for step in range(6)]
    assert activation_penalty(dropped).item() == pytest.approx(ar, rel=1e-6)
    assert temporal_penalty(raw).item() == pytest.approx(torch.stack(steps).mean().item(), rel=1e-6)


def test_the_loss_is_nll_and_both_penalties():
    whole, bare = objective(["ar=2", "tar=1"]), objective(["ar=0", "tar=0"])
    for one in (whole, bare):
        one.module.eval()
    (direction,) = whole.directions
    window = direction.text.window(0)
    encoding, _ = direction.model(window, None)
    top = encoding.layers[-1]
    logits = direction.model.decoder(top, direction.model.encoder)
    nll = torch.nn.functional.cross_entropy(logits, torch.from_numpy(window.targets).flatten())
    assert bare.loss(0, None)[0].item() == pytest.approx(nll.item(), rel=1e-5)
    wanted = nll + 2 * activation_penalty(top) + temporal_penalty(top.view(4, -1, 16))
    assert whole.loss(0, None)[0].item() == pytest.approx(wanted.item(), rel=1e-5)


def test_ar_sees_the_output_behind_its_dropout_and_tar_before():
    made = objective(["ar=1", "tar=0", "encoder.dropout_multiplier=1", "encoder.dropouts.output=0.9"])
    torch.manual_seed(1)
    with_ar = made.loss(0, None)[0].item()
    torch.manual_seed(1)
    without = objective(["ar=0", "tar=0", "encoder.dropout_multiplier=1", "encoder.dropouts.output=0.9"])
    torch.manual_seed(1)
    plain = without.loss(0, None)[0].item()
    torch.manual_seed(1)
    (direction,) = made.directions
    encoding, _ = direction.model(direction.text.window(0), None)
    dropped = direction.model.decoder.drop(encoding)
    assert with_ar - plain == pytest.approx(activation_penalty(dropped).item(), rel=1e-3)
    assert activation_penalty(dropped) > 2 * activation_penalty(encoding.layers[-1])


def test_the_state_is_carried_on():
    made = objective(["reset=0"])
    made.module.eval()
    (direction,) = made.directions
    _, state = made.loss(0, None)
    carried, _ = made.loss(1, state)
    fresh, _ = made.loss(1, None)
    assert carried.item() != fresh.item()
    one, two = direction.text.window(0), direction.text.window(1)
    joined = type(one)(
        *(np.concatenate([getattr(w, field) for w in (one, two)], 1) for field in ("inputs", "targets", "real"))
    )
    whole, _ = direction.model(joined, None)
    parts, _ = direction.model(two, state)
    length = two.inputs.shape[1]
    behind = whole.layers[-1].view(4, -1, 16)[:, -length:].flatten(0, 1)
    torch.testing.assert_close(parts.layers[-1], behind, rtol=1e-5, atol=1e-6)


def test_a_row_that_is_reset_begins_without_a_state():
    made = objective(["reset=1"])
    made.module.eval()
    _, state = made.loss(0, None)
    assert made.loss(1, state)[0].item() == made.loss(1, None)[0].item()


def test_the_perplexity_is_that_of_one_pass_over_the_text():
    made = objective()
    made.module.eval()
    (direction,) = made.directions
    whole = HeldOut(direction.held_out.text, 1, 899)
    window = whole.window(0)
    with torch.no_grad():
        encoding, _ = direction.model(window, None)
        logits = direction.model.decoder(encoding.layers[-1], direction.model.encoder)
        nll = torch.nn.functional.cross_entropy(logits, torch.from_numpy(window.targets).flatten())
        object.__setattr__(direction, "held_out", HeldOut(whole.text, 1, 64))
        assert made.evaluate() == {"perplexity": pytest.approx(math.exp(nll.item()), rel=1e-5)}


def test_two_directions_add_up_and_learn_each_for_itself():
    both = objective(backward=(False, True))
    both.module.eval()
    together, state = both.loss(0, None)
    one, two = both.directions
    parts = [both._one_loss(way, way.text.window(0), None)[0].item() for way in (one, two)]
    assert together.item() == pytest.approx(sum(parts), rel=1e-6)
    assert len(state) == 2 * 2 * 2
    carried = [
        both._one_loss(way, way.text.window(1), part)[0].item() for way, part in ((one, state[:4]), (two, state[4:]))
    ]
    assert both.loss(1, state)[0].item() == pytest.approx(sum(carried), rel=1e-6)
    metrics = both.evaluate()
    assert metrics["perplexity"] ** 2 == pytest.approx(metrics["forward_perplexity"] * metrics["backward_perplexity"])


def test_rates_equal_the_closed_form():
    made = objective(["epochs=10", "cut=0.2", "ratio=16", "rate=0.007"])
    n_steps, rate = made.n_steps, _rate(made.recipe, made)
    cut = int(n_steps * 0.2)
    assert n_steps % 5 == 0
    for t in range(n_steps):
        p = t / cut if t < cut else 1 - (t - cut) / (cut * (1 / 0.2 - 1))
        length = made.directions[0].text.window(t).inputs.shape[1]
        assert rate(t) == pytest.approx(0.007 * (1 + p * 15) / 16 * length / 10, abs=1e-12)


@pytest.mark.parametrize("backward", [(False,), (False, True)])
def test_each_layer_learns_slower_than_the_one_above_it(backward):
    made = objective(["discriminative=2.6", "encoder.n_layers=3"], backward)
    optimizer = optim.make("adamw", made.module, 0.1, weight_decay=0.01, factors=made.factors())
    found = {parameter: group["factor"] for group in optimizer.param_groups for parameter in group["params"]}
    assert len(found) == len(list(made.module.parameters()))
    for way in made.directions:
        encoder = way.model.encoder
        assert found[encoder.embedding.weight] == found[way.model.decoder.bias] == 1
        for depth, lstm in enumerate(encoder.lstms):
            assert {found[parameter] for parameter in lstm.parameters()} == {2.6 ** (depth - 2)}
    assert objective().factors() == []


def test_backwards_it_learns_and_says_so(corpus, tmp_path):
    out = pretrain(recipe("ulmfit-tiny", [*SETTINGS, "directions=backward"]), [str(corpus)], tmp_path / "out")
    assert polyseme.load(out).tokenizer.reverse
    assert perplexities(out)[-1] < 2.5


def test_both_directions_are_one_encoder_that_goes_on_as_such(corpus, tmp_path, grammar):
    out = pretrain(recipe("ulmfit-tiny", [*SETTINGS, "directions=both"]), [str(corpus)], tmp_path / "out")
    model = polyseme.load(out)
    assert model.encoder.widths == (32, 48, 32)
    metrics = model.provenance["metrics"]
    assert max(metrics["forward_perplexity"], metrics["backward_perplexity"]) < 2.5
    (tmp_path / "more.txt").write_text(grammar(100, seed=9).replace("cat", "parrot"))
    more = pretrain(
        recipe("ulmfit-tiny", ["rows=2", "bptt=10", "epochs=1", "discriminative=2.6"]),
        [str(tmp_path / "more.txt")],
        tmp_path / "more",
        init=out,
    )
    after = polyseme.load(more)
    assert after.tokenizer.words == (*model.tokenizer.words, "parrot")
    for one, other in zip(apart(after), apart(model), strict=True):
        assert not one.encoder.lstms[0].weight_hh.equal(other.encoder.lstms[0].weight_hh)


def test_going_on_keeps_the_words_and_starts_new_ones_at_the_mean(run, grammar, tmp_path):
    text = grammar(100, seed=9).replace("cat", "parrot").replace("dog", "unicorn", 1)
    (tmp_path / "more.txt").write_text(text)
    settings = ["rows=2", "bptt=10", "epochs=1", "rate=1e-30", "weight_decay=0", "min_count=3", "encoder.n_words=100"]
    out = pretrain(recipe("ulmfit-tiny", settings), [str(tmp_path / "more.txt")], tmp_path / "out", init=run)
    before, after = polyseme.load(run), polyseme.load(out)
    n_words = len(before.tokenizer.words)
    assert after.tokenizer.words == (*before.tokenizer.words, "parrot")  # the unicorn came once
    table, old = after.encoder.embedding.weight, before.encoder.embedding.weight
    torch.testing.assert_close(table[:n_words], old)
    torch.testing.assert_close(table[n_words], old.mean(0))
    torch.testing.assert_close(after.lm.bias[n_words], before.lm.bias.mean())
    assert after.encoder.config.dropout_multiplier == 0.3  # the recipe's, not the model's
    assert after.encoder.widths == before.encoder.widths
    assert after.provenance["init"] == before.provenance


@pytest.mark.parametrize("file", ["lstm_fwd.pth", "encoder.pth"])
def test_going_on_from_fastais_files(file, corpus, tmp_path):
    released = Path(__file__).parent.parent / "formats" / "data" / "fastai_tiny" / file
    settings = ["rows=2", "bptt=10", "epochs=1", "discriminative=2.6", "min_count=2"]
    out = pretrain(recipe("ulmfit-tiny", settings), [str(corpus)], tmp_path / "out", init=released)
    before, after = polyseme.load(released), polyseme.load(out)
    n_words = len(before.tokenizer.words)
    assert after.tokenizer.words[:n_words] == before.tokenizer.words
    assert "sleeps" in after.tokenizer.words[n_words:]
    assert after.lm is not None
    assert perplexities(out)[-1] < 100


def test_going_on_from_another_family_or_direction_is_refused(run, corpus, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 0.1 0.2\ncat 0.3 0.4\n")
    with pytest.raises(Mistake, match="wants an AWD-LSTM; found one of the family 'static'"):
        pretrain(recipe("ulmfit-tiny"), [str(corpus)], tmp_path / "out", init=vectors)
    with pytest.raises(Mistake, match="directions=both was asked for; the model of --init reads forward"):
        pretrain(recipe("ulmfit-tiny", ["directions=both"]), [str(corpus)], tmp_path / "out2", init=run)


def test_the_sampled_loss_learns_too(corpus, tmp_path):
    out = pretrain(recipe("ulmfit-tiny", [*SETTINGS, "loss=sampled", "n_samples=12"]), [str(corpus)], tmp_path / "out")
    assert perplexities(out)[-1] < 4


def test_nt_asgd_learns(corpus, tmp_path):
    out = pretrain(recipe("ulmfit-tiny", [*SETTINGS, *AVERAGES, "epochs=7"]), [str(corpus)], tmp_path / "out")
    assert perplexities(out)[-1] < 2.6


def test_the_average_is_what_is_measured_and_saved(tmp_path):
    made = objective(["epochs=6", *AVERAGES])
    assert len(list(run_to_the_end(tmp_path, made.recipe, made))) == made.n_steps
    _, last = checkpoint.newest(tmp_path)
    slots, last_weights = load_file(last / "optimizer.safetensors"), load_file(last / "model.safetensors")
    means = [tensor for name, tensor in slots.items() if name.endswith(".mean")]
    model = polyseme.load(tmp_path / "model")
    saved = model.encoder.embedding.weight
    assert any(mean.shape == saved.shape and mean.equal(saved) for mean in means)
    assert not saved.equal(last_weights["0.encoder.embedding.weight"])
    made.module.eval()
    made.directions[0].model.encoder.load_state_dict(model.encoder.state_dict())
    made.directions[0].model.decoder.load_state_dict(model.lm.state_dict())
    with torch.no_grad():
        assert made.evaluate()["perplexity"] == pytest.approx(perplexities(tmp_path)[-1])


def test_too_little_text_is_told(tmp_path):
    (tmp_path / "short.txt").write_text("one two three\n\nfour five six\n")
    with pytest.raises(Mistake, match="4 pieces, too few for 32 rows of 70"):
        pretrain(recipe("ulmfit-tiny"), [str(tmp_path / "short.txt")], tmp_path / "out")


def test_two_directions_are_asked_for_in_one_way():
    with pytest.raises(Mistake, match="directions=both"):
        recipe("ulmfit-tiny", ["encoder.bidirectional=true"])


def test_the_papers_recipe_is_the_papers():
    paper = recipe("ulmfit-paper")
    assert paper.encoder == AwdLstmConfig(n_words=60_000, embedding_width=400, hidden_width=1150, n_layers=3)
    rates = dict(paper.encoder.rates)
    assert rates == {"input": 0.4, "embedding": 0.05, "weight": 0.5, "hidden": 0.3, "output": 0.4}
    assert (paper.bptt, paper.rows, paper.betas, paper.ar, paper.tar) == (70, 64, (0.7, 0.99), 2, 1)
    assert (paper.rate, paper.schedule, paper.cut, paper.ratio) == (4e-3, "slanted_triangular", 0.1, 32)
