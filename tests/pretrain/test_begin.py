"""From a call to a run: what is refused before anything is read, what is found again, what is cleared away."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.errors import BadFile, Mistake
from polyseme.files import new_folder
from polyseme.layers.softmax import Softmax
from polyseme.pretrain import begin, begin_bert, begin_elmo, pretrain, recipe, run
from polyseme.pretrain import corpus as corpora
from polyseme.pretrain.elmo import BiLm
from polyseme.pretrain.job import Job
from polyseme.pretrain.rows import Window
from polyseme.text.characters import spell
from polyseme.train.claim import claim

ELMO = [
    *("encoder.width=16", "encoder.cell_width=24", "encoder.filters=[[1,8],[2,8]]", "encoder.n_highway=1"),
    *("rows=4", "unroll=8", "encoder.dropout=0.1"),
]
BERT = [
    *("encoder.hidden_size=64", "encoder.num_attention_heads=2", "encoder.intermediate_size=64", "n_pieces=60"),
    *("positions=512", "length=32"),
]


@pytest.fixture
def untrained(monkeypatch, one_process):
    """Runs that read their text, and whose model is a record of it."""

    def run(out, recipe, text, origin):
        with new_folder(out / "model") as folder:
            (folder / "polyseme.json").write_text(json.dumps({**text.facts, **origin}))
        return iter(())

    monkeypatch.setattr(begin, "run", run)
    monkeypatch.setitem(begin._BEGIN, "elmo", lambda recipe, job: corpora.prepare(job))


@pytest.fixture
def text(tmp_path, grammar):
    (tmp_path / "text.txt").write_text(grammar(40))
    return tmp_path / "text.txt"


def made_from(out):
    return json.loads((out / "model" / "polyseme.json").read_text())


@pytest.mark.parametrize("form", [str, lambda path: path, lambda path: [path], lambda path: [str(path)]])
def test_texts_are_named_by_strings_or_paths_one_or_many(text, tmp_path, untrained, form, grammar):
    (tmp_path / "valid.txt").write_text(grammar(20, seed=2))
    out = pretrain(recipe("elmo-tiny"), form(text), tmp_path / "out", valid=form(tmp_path / "valid.txt"))
    facts = made_from(out)
    assert [one["path"] for one in facts["corpus"]["files"]] == [str(text)]
    assert [one["path"] for one in facts["valid"]["files"]] == [str(tmp_path / "valid.txt")]


@pytest.mark.parametrize("which", ["text.txt", "valid.txt"])
@pytest.mark.parametrize("new", [lambda old: old + "one more\n", str.swapcase])
def test_a_finished_run_is_not_that_of_another_text(text, tmp_path, untrained, grammar, which, new):
    (tmp_path / "valid.txt").write_text(grammar(20, seed=2))
    asked = (recipe("elmo-tiny"), text, tmp_path / "out", tmp_path / "valid.txt")
    before = made_from(pretrain(*asked))
    assert made_from(pretrain(*asked)) == before
    (tmp_path / which).write_text(new((tmp_path / which).read_text()))
    with pytest.raises(Mistake, match=f"{which} has changed"):
        pretrain(*asked)
    assert made_from(tmp_path / "out") == before


def test_a_finished_model_that_is_damaged_is_named_and_left_alone(text, tmp_path, untrained):
    out = pretrain(recipe("elmo-tiny"), text, tmp_path / "out")
    (out / "model" / "polyseme.json").write_text("edited")
    with pytest.raises(BadFile, match=r"polyseme\.json has changed since it was written\)\. Delete it"):
        pretrain(recipe("elmo-tiny"), text, out)
    assert (out / "model" / "polyseme.json").read_text() == "edited"


def test_text_that_is_learned_from_cannot_be_held_out(text, tmp_path, untrained, grammar):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, seed in (("a.txt", 1), ("b.txt", 2)):
        (folder / name).write_text(grammar(20, seed))
    text.write_text(grammar(20, 2))  # the same as b.txt
    for valid in (folder / "b.txt", text):
        with pytest.raises(Mistake, match=rf"{valid.name} is in the corpus too"):
            pretrain(recipe("elmo-tiny"), folder, tmp_path / "out", valid=valid)
    assert not (tmp_path / "out").exists()


def test_what_a_killed_run_left_is_cleared(text, tmp_path, untrained):
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_text("{}")  # the folder is a run's
    for name in (".corpus.x1", ".valid.x1", ".pieces.x1", ".model.x1"):
        (out / name / "inner").mkdir(parents=True)
    for name in (".words.txt.x1.txt", ".run.json.x1.json", ".metrics.jsonl.x1.jsonl"):
        (out / name).touch()
    pretrain(recipe("elmo-tiny"), text, out)
    assert sorted(path.name for path in out.iterdir()) == [".lock", "model", "run.json"]


def test_the_folder_of_a_fit_is_not_taken_over(text, tmp_path, untrained):
    out = tmp_path / "fit"
    claim(out, {"task": "classify", "data": ["a.csv", "12"], "valid": "None"}, learned=("fitted",))
    (out / "fitted").mkdir()
    with pytest.raises(Mistake, match="Choose another folder"):
        pretrain(recipe("elmo-tiny"), text, out)
    assert sorted(path.name for path in out.iterdir()) == [".lock", "fitted", "run.json"]


@pytest.fixture
def job(text, tmp_path, reading, one_process):
    (tmp_path / "work").mkdir()
    return Job((str(text),), (), tmp_path / "work", reading, None, lambda report: None)


def test_an_elmo_goes_on_with_the_dropout_of_the_recipe(job):
    init = begin_elmo.begin(recipe("elmo-tiny", ELMO), job).pretrained({})
    settings = recipe("elmo-tiny", [*ELMO, "encoder.dropout=0.7", "encoder.width=32"])
    after = begin_elmo.begin(settings, replace(job, init=init)).module.encoder
    assert [layer.dropout for layer in after.layers] == [0.7, 0.7]
    assert (after.config.dropout, after.config.width) == (0.7, 16)


def test_a_bert_goes_on_with_the_dropouts_of_the_recipe(job):
    init = begin_bert.begin(recipe("bert-tiny", BERT), job).pretrained({})
    changes = ["encoder.hidden_dropout_prob=0.7", "encoder.attention_probs_dropout_prob=0.6", "encoder.hidden_size=128"]
    after = begin_bert.begin(recipe("bert-tiny", [*BERT, *changes]), replace(job, init=init)).module.encoder
    assert (after.stack[0].dropout.p, after.stack[0].attention.dropout, after.embeddings.dropout.p) == (0.7, 0.6, 0.7)
    assert (after.config.hidden_dropout_prob, after.config.attention_probs_dropout_prob) == (0.7, 0.6)
    assert after.config.hidden_size == 64


def test_without_a_text_of_its_own_what_is_held_out_is_spelled_once(job, tmp_path, grammar):
    made = begin_elmo.begin(recipe("elmo-tiny", ELMO), job)
    assert made.held_out.words is made.text.words
    (tmp_path / "valid.txt").write_text(grammar(20, seed=2))
    made = begin_elmo.begin(recipe("elmo-tiny", ELMO), replace(job, valid=(str(tmp_path / "valid.txt"),)))
    assert made.held_out.words is not made.text.words


@pytest.mark.parametrize("name", ["elmo-tiny", "bert-tiny", "ulmfit-tiny"])
def test_a_model_of_another_family_is_refused_before_the_text_is_read(text, tmp_path, name):
    (tmp_path / "vectors.txt").write_text("the 1 2\ncat 3 4\n")
    with pytest.raises(Mistake, match="--init wants"):
        pretrain(recipe(name), text, tmp_path / "out", init=tmp_path / "vectors.txt")
    assert not (tmp_path / "out" / "corpus").exists()


def test_sequences_that_are_too_long_are_refused_before_the_text_is_read(job):
    with pytest.raises(Mistake, match="this encoder has 512"):
        begin_bert.begin(recipe("bert-tiny", [*BERT, "length=1024", "positions=4096"]), job)
    assert not (job.folder / "corpus").exists()


def test_pairs_want_two_documents_in_the_text_held_out_too(job, tmp_path):
    (tmp_path / "valid.txt").write_text("the cat sleeps here . a dog sings . my friend waits .")
    job = replace(job, valid=(str(tmp_path / "valid.txt"),))
    with pytest.raises(Mistake, match="Documents in --valid: 1;"):
        begin_bert.begin(recipe("bert-tiny", BERT), job)
    begin_bert.begin(recipe("bert-tiny", [*BERT, "adjacent=false"]), job)


def test_words_are_drawn_by_their_frequency_in_the_text_that_is_learned_from(job, tmp_path):
    init = begin_elmo.begin(recipe("elmo-tiny", ELMO), job)
    words = init.tokenizer.vocabulary
    assert {words[number] for number in init.ranking.words[:3].tolist()} >= {"<S>", "</S>"}
    assert init.ranking.ranks[words.index("<UNK>")] == len(words) - 1  # a small text has no such word
    other = "friend friend friend sings . friend unheard-of\n\n" * 40
    (tmp_path / "other.txt").write_text(other)
    (tmp_path / "again").mkdir()
    new = replace(job, corpus=(str(tmp_path / "other.txt"),), folder=tmp_path / "again", init=init.pretrained({}))
    ranking = begin_elmo.begin(recipe("elmo-tiny", ELMO), new).ranking
    assert [words[number] for number in ranking.words.tolist()][:1] == ["friend"]
    assert {words[number] for number in ranking.words[:6].tolist()} == {"friend", "sings", ".", "<S>", "</S>", "<UNK>"}


def test_a_berts_window_is_what_it_has_learned_from(job):
    for more, wanted in ((["long_length=64"], 64), (["long_length=64", "long_part=0"], 32), (["long_length=16"], 32)):
        made = begin_bert.begin(recipe("bert-tiny", [*BERT, *more]), job)
        assert made.tokenizer.window == wanted


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_step_of_elmo_has_the_same_gradient_each_time(n_threads):
    """With two threads, to index a tensor adds up its gradient in the order in which they come."""
    torch.manual_seed(0)
    config = ElmoConfig(width=128, cell_width=8, n_highway=1, filters=((1, 32), (2, 32)), dropout=0)
    model, draw = BiLm(ElmoEncoder(config), Softmax(128, 30)), np.random.default_rng(0)
    ids = [draw.integers(0, 30, (20, 64)) for _ in range(4)]
    window, spellings = Window(*ids, np.ones((20, 64), bool)), spell([f"w{number}" for number in range(28)], 50)
    state = tuple(torch.zeros(64, width) for width in (128, 8) * 4)
    before, found = torch.get_num_threads(), []
    torch.set_num_threads(n_threads)
    try:
        for _ in range(8):
            model.zero_grad()
            model(window, spellings, state)[0].square().sum().backward()
            found.append([parameter.grad.clone() for parameter in model.encoder.words.parameters()])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, other) for again in found for one, other in zip(found[0], again, strict=True))


def test_saving_takes_a_small_part_of_the_time(monkeypatch):
    seconds = iter([0.0, 100.0, 200.0, 220.0, 221.0, 619.0, 621.0])
    monkeypatch.setattr(run.time, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(run, "_SAVING", 0.05)
    monkeypatch.setattr(run, "_SAVE_EVERY", 60.0)
    watch = run._Watch(None, SimpleNamespace(step=0, facts={}))  # at 0
    assert watch.due()  # at 100
    with watch.saving():  # from 200 to 220: the next one comes 400 seconds later
        pass
    assert [watch.due() for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("name, changes", [("elmo-tiny", ELMO), ("ulmfit-tiny", ["encoder.embedding_width=8"])])
def test_words_that_keep_one_company_begin_alike(name, changes, tmp_path, grammar, reading):
    (tmp_path / "text.txt").write_text(grammar(300))
    rows = [] if name == "elmo-tiny" else ["encoder.hidden_width=8", "rows=2", "bptt=10"]
    job = Job((str(tmp_path / "text.txt"),), (), tmp_path / "run", reading, None, lambda report: None)
    begun = begin._BEGIN[recipe(name).family](recipe(name, [*changes, *rows, "company=true"]), job)
    if name == "elmo-tiny":
        words, table, bias = begun.tokenizer.vocabulary, begun.module.softmax.weight, begun.module.softmax.bias
    else:
        words, model = begun.words, begun.directions[0].model
        table, bias = model.encoder.embedding.weight, model.decoder.bias
    number = {word: place for place, word in enumerate(words)}

    def alike(one: str, other: str) -> float:
        return torch.cosine_similarity(table[number[one]], table[number[other]], dim=0).item()

    assert alike("sleeps", "sings") > alike("sleeps", "home") + 0.2
    assert bias[number["."]] > bias[number["cat"]]
    assert torch.isfinite(table).all()


def test_a_run_that_goes_on_does_not_count_again(tmp_path, grammar, reading, monkeypatch):
    (tmp_path / "text.txt").write_text(grammar(60))
    job = Job((str(tmp_path / "text.txt"),), (), tmp_path / "run", reading, None, lambda report: None)
    assert job.is_new
    with new_folder(tmp_path / "run" / "checkpoints" / "step-000000001") as folder:
        (folder / "facts.json").write_text("{}")
    assert not job.is_new
    monkeypatch.setattr(begin_elmo, "company", None)  # who calls it fails
    begin_elmo.begin(recipe("elmo-tiny", [*ELMO, "company=true"]), job)
