"""Pretraining a BERT: it learns, a run that was killed ends with the same bytes, and others load what it made."""

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

import polyseme
from polyseme.errors import Mistake
from polyseme.pretrain import begin_bert, pretrain, recipe
from polyseme.pretrain.bert import BertObjective, rates_at
from polyseme.pretrain.job import Job
from polyseme.pretrain.masked_lm import MaskedLm
from polyseme.text.words import to_text
from polyseme.train.optim import decay_groups

TINY = [
    *("encoder.hidden_size=64", "encoder.num_attention_heads=2", "encoder.intermediate_size=64", "n_pieces=100"),
    *("positions=512", "length=32", "long_length=null", "rate=0.005", "encoder.initializer_range=0.05"),
]
SETTINGS = [*TINY, "steps=200"]


def text(n_documents: int, seed: int = 0) -> str:
    """Documents of a little grammar: each is about one who, who does what goes with the place."""
    draw = random.Random(seed)
    who = ["the cat", "a dog", "my friend", "the old man"]
    does = {"here": "sleeps", "in town": "sings", "at home": "waits"}
    documents = []
    for _ in range(n_documents):
        about = draw.choice(who)
        places = [draw.choice(list(does)) for _ in range(6)]
        documents.append(" ".join(f"{about} {does[place]} {place} .".capitalize() for place in places))
    return "\n\n".join(documents) + "\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text(text(300))
    return path


@pytest.fixture(scope="module")
def valid(corpus) -> Path:
    path = corpus.parent / "valid.txt"
    path.write_text(text(40, seed=5))
    return path


@pytest.fixture(scope="module")
def run(corpus, valid, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "bert"
    return pretrain(recipe("bert-tiny", SETTINGS), [str(corpus)], out, valid=[str(valid)])


def weights(out: Path) -> bytes:
    return (out / "model" / "model.safetensors").read_bytes()


def measured(out: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if "masked_loss" in line]


def unigram_entropy(corpus: Path, model: polyseme.Pretrained) -> float:
    ids = model.tokenizer.cut([to_text(corpus.read_text())]).ids
    shares = np.array(list(Counter(ids.tolist()).values())) / len(ids)
    return float(-(shares * np.log(shares)).sum())


def test_it_learns_words_and_adjacency(corpus, run):
    found = measured(run)
    entropy = unigram_entropy(corpus, polyseme.load(run))
    assert found[-1]["masked_loss"] < 0.5 * entropy < entropy < found[0]["masked_loss"] + 1
    assert found[-1]["masked_perplexity"] == pytest.approx(np.exp(found[-1]["masked_loss"]))
    assert found[-1]["masked_accuracy"] > 0.6
    assert 0.3 < found[-1]["adjacent_ratio"] < 0.6
    assert found[-1]["adjacent_accuracy"] > 0.6  # who has learned to say the opposite has less than 0.4


def test_the_model_holds_its_recipe_its_corpus_its_ratio_and_its_metrics(run):
    provenance = polyseme.load(run).provenance
    assert provenance["recipe"]["positions"] == 512
    assert len(provenance["corpus"]["files"][0]["sha256"]) == 64
    assert provenance["corpus"]["documents"] == 300
    assert 0.3 < provenance["adjacent_ratio"] < 0.5  # in documents this short, many a sentence is the last
    assert provenance["metrics"]["masked_loss"] == measured(run)[-1]["masked_loss"]
    assert not (run / "checkpoints").exists()
    assert not (run / "corpus").exists()


def begun(corpus: Path, folder: Path, settings: list[str], init: Path | None = None) -> BertObjective:
    folder.mkdir()
    reading = {"split": "rules", "field": "text", "errors": "strict"}
    model = polyseme.load(init) if init else None
    job = Job((str(corpus),), (), folder, reading, model, lambda report: None)
    return begin_bert.begin(recipe("bert-tiny", settings), job)


def test_a_new_model_expects_the_frequencies_of_the_pieces(corpus, run, tmp_path):
    made = begun(corpus, tmp_path / "new", TINY)
    ids = made.tokenizer.cut([to_text(corpus.read_text())]).ids
    counts = torch.from_numpy(np.bincount(ids, minlength=made.tokenizer.n_pieces) + 1.0)
    wanted = (counts / counts.sum()).log().float()
    torch.testing.assert_close(
        made.module.heads.masked.bias.detach(), wanted, rtol=0, atol=0.05
    )  # some text is held out
    with torch.inference_mode():
        first = made.evaluate()["masked_loss"]
    assert first < unigram_entropy(corpus, polyseme.load(run)) + 1 < np.log(made.tokenizer.n_pieces)


def test_places_of_a_new_model_are_a_turn_from_one_to_the_next(corpus, run, tmp_path):
    made = begun(corpus, tmp_path / "new", [*TINY, "company=false"]).module.encoder
    places = made.embeddings.positions.weight.detach()
    alike = places @ places.T
    for step in (1, 5, 100):  # is the same wherever it begins
        row = torch.diagonal(alike, step)
        torch.testing.assert_close(row, row[:1].expand_as(row), rtol=0, atol=1e-5)
    assert places.square().mean().sqrt().item() == pytest.approx(0.05, rel=1e-3)
    old = begun(corpus, tmp_path / "old", ["positions=512"], init=run).module.encoder
    assert torch.equal(old.embeddings.positions.weight, polyseme.load(run).encoder.embeddings.positions.weight)


def test_a_new_model_that_knows_the_company_of_pieces_begins_as_a_bag_of_words(corpus, tmp_path):
    at_random = begun(corpus, tmp_path / "random", [*TINY, "company=false"])
    counted = begun(corpus, tmp_path / "counted", TINY)
    with torch.inference_mode():
        before, after = at_random.evaluate()["masked_loss"], counted.evaluate()["masked_loss"]
    assert after < before - 0.2  # before the first step
    mask = counted.tokenizer.id_of("mask")  # stands in no text
    rows = [one.module.encoder.embeddings.words.weight[mask] for one in (at_random, counted)]
    assert torch.equal(*rows)


def test_a_model_that_is_gone_on_from_keeps_its_start(corpus, run, tmp_path):
    old = begun(corpus, tmp_path / "old", ["positions=512", "company=true"], init=run).module.encoder
    assert torch.equal(old.embeddings.words.weight, polyseme.load(run).encoder.embeddings.words.weight)


def test_long_sequences_are_those_longer_than_the_others(corpus, tmp_path):
    settings = [*TINY, "steps=10", "long_part=0.4"]
    for long, n_short in (("64", 6), ("32", 10), ("16", 10)):
        made = begun(corpus, tmp_path / long, [*settings, f"long_length={long}"])
        assert made.text.phases.n_short_steps == n_short
        lengths = made.text.held_out_sequences.n_pieces
        assert lengths.max() > 32 if long == "64" else lengths.max() <= 32  # measured as long as it will ever read


def test_accuracy_on_adjacency_is_compared_with_the_share_that_follows(corpus, tmp_path):
    made = begun(corpus, tmp_path / "work", TINY)
    head = made.module.heads.adjacent
    head.weight.data.zero_()
    for says_follows in (True, False):
        head.bias.data = torch.tensor([1.0, 0.0] if says_follows else [0.0, 1.0])
        with torch.inference_mode():
            found = made.evaluate()
        assert 0 < found["adjacent_ratio"] < 1
        wanted = found["adjacent_ratio"] if says_follows else 1 - found["adjacent_ratio"]
        assert found["adjacent_accuracy"] == pytest.approx(wanted)


def test_the_loss_of_a_step_and_its_gradient_are_those_of_transformers(corpus, run, tmp_path):
    from transformers import BertForPreTraining

    whole, parts = (
        begun(corpus, tmp_path / str(most), [*TINY, f"positions_at_once={most}"], run) for most in (512, 100)
    )
    (task,) = whole.tasks(3)
    assert len(parts.tasks(3)) > 4
    lengths = task.batch.lengths.tolist()
    labels = torch.full_like(task.batch.ids, -100)
    labels[task.places] = task.targets

    def padded(rows, value=0):
        return torch.nn.utils.rnn.pad_sequence(rows.split(lengths), True, value)

    model = BertForPreTraining.from_pretrained(run / "model").eval()
    theirs = model(
        input_ids=padded(task.batch.ids),
        token_type_ids=padded(task.batch.segments),
        attention_mask=padded(torch.ones_like(task.batch.ids)),
        labels=padded(labels, -100),
        next_sentence_label=task.strangers,
    )
    theirs.loss.backward()
    for ours in (whole, parts):
        amounts = []
        for part in ours.loss(3, None)[0]:
            part.backward()
            amounts.append(part.item())
        assert sum(amounts) == pytest.approx(theirs.loss.item(), abs=1e-4)
        embeddings, first = ours.module.encoder.embeddings, model.bert.embeddings
        torch.testing.assert_close(embeddings.words.weight.grad, first.word_embeddings.weight.grad, rtol=0, atol=1e-5)
        torch.testing.assert_close(embeddings.norm.weight.grad, first.LayerNorm.weight.grad, rtol=0, atol=1e-5)
        torch.testing.assert_close(
            ours.module.heads.masked.bias.grad, model.cls.predictions.bias.grad, rtol=0, atol=1e-5
        )


def test_the_same_recipe_gives_the_same_bytes_and_another_seed_others(corpus, tmp_path):
    one, again, other = (
        pretrain(recipe("bert-tiny", [*TINY, "steps=5", f"seed={seed}"]), [str(corpus)], tmp_path / name)
        for seed, name in ((1, "one"), (1, "again"), (2, "other"))
    )
    assert weights(one) == weights(again) != weights(other)


def test_killed_at_random_moments_it_ends_with_the_same_bytes(corpus, valid, run_with_kills, tmp_path):
    settings = [*TINY, "steps=60", "encoder.hidden_dropout_prob=0.1"]
    whole = pretrain(recipe("bert-tiny", settings), [str(corpus)], tmp_path / "whole", valid=[str(valid)])
    assert run_with_kills("bert-tiny", corpus, tmp_path / "killed", settings, kills=2, valid=valid) >= 1
    assert weights(tmp_path / "killed") == weights(whole)
    logs = [(folder / "metrics.jsonl").read_text() for folder in (tmp_path / "killed", whole)]
    assert logs[0] == logs[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        ["optimizer=muon", "shifted=true", "centred=true"],
        ["adjacent=false", "whole=span", "encoder.hidden_dropout_prob=0.1"],
    ],
)
def test_killed_ten_times_it_ends_with_the_same_bytes(corpus, valid, run_with_kills, tmp_path, more):
    settings = [
        *TINY,
        "steps=400",
        "long_length=64",
        "predict=0.3",
        "predict_end=0.15",
        "positions_at_once=256",
        *more,
    ]
    whole = pretrain(recipe("bert-tiny", settings), [str(corpus)], tmp_path / "whole", valid=[str(valid)])
    assert run_with_kills("bert-tiny", corpus, tmp_path / "killed", settings, kills=10, valid=valid) == 10
    assert weights(tmp_path / "killed") == weights(whole)


def test_killed_while_the_text_is_cut_it_begins_again(corpus, tmp_path):
    class Killed(BaseException):
        pass

    def die(report):
        if report.stage == "Reading":
            raise Killed

    settings = recipe("bert-tiny", [*TINY, "steps=3"])
    whole = pretrain(settings, [str(corpus)], tmp_path / "whole")
    with pytest.raises(Killed):
        pretrain(settings, [str(corpus)], tmp_path / "killed", tell=die)
    assert not (tmp_path / "killed" / "corpus").exists()
    assert weights(pretrain(settings, [str(corpus)], tmp_path / "killed")) == weights(whole)


def test_transformers_reads_the_model_and_gives_the_same_scores(run):
    from transformers import AutoTokenizer, BertForMaskedLM, BertForPreTraining

    ours, folder = polyseme.load(run), run / "model"
    first, second = "The cat [MASK] in town .", "A dog sings here ."
    inputs = AutoTokenizer.from_pretrained(folder)(first, second, return_tensors="pt")
    batch = ours.tokenizer.encode_pairs([to_text(first)], [to_text(second)])
    assert batch.ids.tolist() == inputs["input_ids"][0].tolist()
    with torch.no_grad():
        theirs = BertForPreTraining.from_pretrained(folder).eval()(**inputs)
        masked = BertForMaskedLM.from_pretrained(folder).eval()(**inputs)
        encoding = ours.encoder(batch)
        scores = ours.lm.masked_words(encoding.layers[-1], ours.encoder.embeddings.words.weight)
        adjacent = ours.lm.next_sentence(ours.encoder.pooled(encoding))
    torch.testing.assert_close(scores, theirs.prediction_logits[0], rtol=0, atol=1e-5)
    torch.testing.assert_close(scores, masked.logits[0], rtol=0, atol=1e-5)
    torch.testing.assert_close(adjacent, theirs.seq_relationship_logits, rtol=0, atol=1e-5)


def test_without_adjacency_there_is_neither_its_head_nor_a_pooler(corpus, tmp_path):
    out = pretrain(recipe("bert-tiny", [*TINY, "steps=20", "adjacent=false"]), [str(corpus)], tmp_path / "out")
    model = polyseme.load(out)
    assert model.encoder.pooler is None
    assert model.lm.adjacent is None
    assert not any("adjacent" in name for name in measured(out)[-1])
    assert model.tokenizer.window == 32  # it has never read more


@pytest.mark.parametrize(
    "more", [["whole=word"], ["whole=span", "corrupt=0.3"], ["long_length=64"], ["optimizer=muon", "rate=0.002"]]
)
def test_other_ways_to_mask_and_long_sequences_learn_too(corpus, tmp_path, more):
    out = pretrain(recipe("bert-tiny", [*TINY, "steps=30", *more]), [str(corpus)], tmp_path / "out")
    assert measured(out)[-1]["masked_loss"] < 3


def test_before_long_sequences_come_shifted_ones_begin_at_any_place(corpus, tmp_path):
    settings = [*TINY, "steps=10", "long_length=64", "long_part=0.5", "shifted=true", "positions_at_once=256"]
    objective = begun(corpus, tmp_path / "run", settings)
    tasks = [objective.tasks(step) for step in range(10)]
    starts = torch.cat([task.batch.starts for step in tasks[:5] for task in step])
    ends = torch.cat([task.batch.starts + task.batch.lengths for step in tasks[:5] for task in step])
    assert starts.min() == 0
    assert ends.max() == 64
    assert len(starts.unique()) > 20
    assert all(task.batch.starts is None for step in tasks[5:] for task in step)
    again = objective.tasks(3)
    assert all(torch.equal(one.batch.starts, other.batch.starts) for one, other in zip(again, tasks[3], strict=True))
    plain = begun(corpus, tmp_path / "plain", [*settings, "shifted=false"]).tasks(3)
    assert all(torch.equal(one.batch.ids, other.batch.ids) for one, other in zip(again, plain, strict=True))


def test_a_step_in_parts_learns_the_same(corpus, tmp_path):
    whole, parts = (
        pretrain(
            recipe("bert-tiny", [*TINY, "steps=5", f"positions_at_once={most}"]), [str(corpus)], tmp_path / str(most)
        )
        for most in (512, 100)
    )
    one, other = polyseme.load(whole).encoder.state_dict(), polyseme.load(parts).encoder.state_dict()
    assert weights(whole) != weights(parts)  # sums in another order
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, other[name], rtol=0, atol=1e-3)


def test_the_rates_go_from_begin_to_end():
    fixed = recipe("bert-tiny", ["predict=0.4"])
    assert [(rates_at(fixed, part).predict, rates_at(fixed, part).corrupt) for part in (0, 1)] == [(0.4, 0.4)] * 2
    falling = recipe("bert-tiny", ["predict=0.15", "corrupt=0.3", "corrupt_end=0.1"])
    assert [round(rates_at(falling, part).corrupt, 6) for part in (0, 0.5, 1)] == [0.3, 0.2, 0.1]
    assert rates_at(falling, 0.5).predict == 0.15


def test_losses_are_measured_at_one_rate_with_the_same_masks_whatever_a_run_learns_at(corpus, tmp_path):
    strange = ["predict=0.6", "whole=span", "seed=9", "masked=1", "random=0"]
    tasks = [begun(corpus, tmp_path / str(len(more)), [*TINY, *more])._held_out for more in ([], strange)]
    for one, other in zip(*tasks, strict=True):
        assert torch.equal(one.batch.ids, other.batch.ids)
        assert torch.equal(one.places, other.places)
        assert len(one.places) / len(one.batch.ids) == pytest.approx(0.15, abs=0.02)


@pytest.fixture(scope="module")
def domain(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("domain") / "text.txt"
    path.write_text(text(60, seed=9).replace("cat", "catfish").replace("sleeps", "Hesitates"))
    return path


@pytest.fixture(scope="module")
def grown(run, domain, tmp_path_factory) -> Path:
    settings = [*TINY, "steps=2", "domain_words=5", "rate=1e-9"]
    return pretrain(recipe("bert-tiny", settings), [str(domain)], tmp_path_factory.mktemp("runs") / "more", init=run)


def test_domain_words_become_pieces_whose_rows_begin_as_the_mean_of_their_pieces(run, grown):
    before, after = polyseme.load(run), polyseme.load(grown)
    n_before = before.tokenizer.n_pieces
    new = {piece: number for piece, number in after.tokenizer.backend.get_vocab().items() if number >= n_before}
    assert set(new) == {"catfish", "hesitates"}
    tables = [model.encoder.embeddings.words.weight for model in (before, after)]
    biases = [model.lm.masked.bias for model in (before, after)]
    for word, number in new.items():
        pieces = before.tokenizer.cut([to_text(word)]).ids.tolist()
        assert len(pieces) > 1
        assert after.tokenizer.cut([to_text(word)]).ids.tolist() == [number]
        for old, table in (tables, biases):
            torch.testing.assert_close(table[number], old[pieces].mean(0), rtol=0, atol=1e-6)
    torch.testing.assert_close(tables[1][:n_before], tables[0], rtol=0, atol=1e-6)
    assert after.provenance["init"] == before.provenance


def test_transformers_cuts_domain_words_as_we_do(grown):
    from transformers import AutoTokenizer, BertForPreTraining

    string = "The catfish Hesitates in town . catfishes hesitate !"
    theirs, ours = AutoTokenizer.from_pretrained(grown / "model"), polyseme.load(grown)
    assert theirs(string)["input_ids"] == ours.tokenizer.encode([to_text(string)]).ids.tolist()
    assert len(theirs) == ours.tokenizer.n_pieces == ours.encoder.config.vocab_size
    assert BertForPreTraining.from_pretrained(grown / "model").config.vocab_size == ours.encoder.config.vocab_size


def test_going_on_keeps_vocabulary_sizes_and_heads_and_makes_absent_ones(run, corpus, tmp_path):
    before = polyseme.load(run)
    polyseme.save(polyseme.Pretrained(before.tokenizer, before.encoder), tmp_path / "bare")
    reports = []
    settings = recipe("bert-tiny", ["positions=512", "steps=2"])
    out = pretrain(settings, [str(corpus)], tmp_path / "out", init=tmp_path / "bare", tell=reports.append)
    after = polyseme.load(out)
    assert after.encoder.widths == before.encoder.widths
    assert after.tokenizer.backend.get_vocab() == before.tokenizer.backend.get_vocab()
    assert after.lm.masked is not None
    assert after.lm.adjacent is not None
    made = ["the head for masked words", "the head for adjacent sentences"]
    assert after.provenance["made_new"] == made
    assert any(all(name in report.said for name in made) for report in reports)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["max_predictions=3"], r"max_predictions=3 would undo the rate: of 32 positions 5 are"),
        (["max_predictions=6", "predict_end=0.4"], r"Raise it to 13"),
        (["masked=0.9", "random=0.2"], "together at most 1"),
        (["corrupt_end=0.2"], "Set corrupt too"),
        (["positions=20"], "less than one sequence of 32"),
        (["domain_words=5"], "Give it with --init"),
        (["length=1024", "positions=4096"], "this encoder has 512"),
        (["positions=4000000"], "Give more text"),
    ],
)
def test_what_does_not_go_together_is_refused(corpus, tmp_path, more, problem):
    with pytest.raises(Mistake, match=problem):
        pretrain(recipe("bert-tiny", [*TINY, *more]), [str(corpus)], tmp_path / "out")


def test_predictions_that_need_no_cap_are_let_through(corpus, tmp_path):
    pretrain(recipe("bert-tiny", [*TINY, "steps=1", "max_predictions=5"]), [str(corpus)], tmp_path / "out")


def test_a_static_model_is_nothing_to_go_on_from(tmp_path, corpus):
    (tmp_path / "vectors.txt").write_text("the 1 2\ncat 3 4\n")
    with pytest.raises(Mistake, match="wants a BERT; found one of the family 'static'"):
        pretrain(recipe("bert-tiny", TINY), [str(corpus)], tmp_path / "out", init=tmp_path / "vectors.txt")


def test_every_size_is_the_released_one():
    sizes = {"bert-tiny": (2, 128, 2), "bert-mini": (4, 256, 4), "bert-small": (4, 512, 8), "bert-base": (12, 768, 12)}
    for name, size in sizes.items():
        config = recipe(name).encoder
        assert (config.num_hidden_layers, config.hidden_size, config.num_attention_heads) == size
        assert config.intermediate_size == 4 * config.hidden_size


def test_decay_spares_biases_and_layer_norms_only(run):
    model = polyseme.load(run)
    module = MaskedLm(model.encoder, model.lm)
    decays = {
        id(parameter): group["weight_decay"] for group in decay_groups(module, 0.01) for parameter in group["params"]
    }
    for name, parameter in module.named_parameters():
        spared = name.endswith("bias") or "norm" in name
        assert decays[id(parameter)] == (0.0 if spared else 0.01), name


def test_shifted_without_longer_sequences_is_refused(corpus, tmp_path):
    with pytest.raises(Mistake, match="here all have one length"):
        begun(corpus, tmp_path / "run", [*TINY, "shifted=true"])


def test_a_centred_model_is_the_same_with_layers_around_the_origin(corpus, tmp_path):
    plain, centred = (
        begun(corpus, tmp_path / name, [*TINY, "steps=3", f"centred={name}"]) for name in ("false", "true")
    )
    before = plain.evaluate()
    made = centred.pretrained({})
    after = centred.evaluate()
    assert after["masked_loss"] == pytest.approx(before["masked_loss"], abs=1e-4)
    layers = made.embed(corpus.read_text().splitlines()[:200], layers="all", level="piece")
    rows = np.concatenate(layers, axis=1)  # (layers, pieces, width)
    shared = np.linalg.norm(rows.mean(1), axis=1) / np.linalg.norm(rows, axis=2).mean(1)
    assert shared.max() < 0.3  # a line alone is no sequence of the text, but nearly


def test_a_run_begun_before_there_was_a_setting_goes_on(corpus, tmp_path):
    settings = recipe("bert-tiny", [*TINY, "steps=4"])
    out = tmp_path / "run"
    pretrain(settings, [str(corpus)], out)
    begun = json.loads((out / "run.json").read_text())
    del begun["recipe"]["centred"], begun["recipe"]["encoder"]["adjacent_head"]
    (out / "run.json").write_text(json.dumps(begun))
    pretrain(settings, [str(corpus)], out)
    with pytest.raises(Mistake, match="centred was false, is true"):
        pretrain(recipe("bert-tiny", [*TINY, "steps=4", "centred=true"]), [str(corpus)], out)
    with pytest.raises(Mistake, match='family was "bert", is "elmo"'):
        pretrain(recipe("elmo-tiny"), [str(corpus)], out)
