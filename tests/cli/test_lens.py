"""The verbs that look inside: senses, lens, study."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import torch

import polyseme
from polyseme.cli import lens_kinds, main
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.tasks.senses import read_senses
from polyseme.text.wordpiece import WordPiece

WORDS = (
    "the a crack cracks in wall bank river was high bats fly at night spring came early good bad film it he .".split()
)
PNG = b"\x89PNG"


def tagged(n):
    sentences = [f"The DET\n{WORDS[4 + i % 4]} NOUN\nwas VERB\n{WORDS[i % 9]} X\n" for i in range(n)]
    return "\n".join(sentences)


def senses(n):
    rows = []
    for i in range(n):
        word, key = ("river", "bank%shore") if i % 2 else ("film", "bank%money")
        sense = {"start": 1, "end": 2, "lemma": "bank", "pos": "noun", "keys": [key]}
        rows.append(json.dumps({"words": ["the", "bank", "in", "the", word], "senses": [sense]}))
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with models and data of every kind that the page on looking inside speaks of."""
    place = tmp_path_factory.mktemp("lens")
    torch.manual_seed(0)
    tokenizer = WordPiece.train([" ".join(WORDS)] * 5, n_pieces=120, min_count=1, window=32)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=tokenizer.n_pieces, max_position_embeddings=32, initializer_range=1, **sizes)
    model = polyseme.Pretrained(tokenizer, BertEncoder(config), {}, BertHeads(config))
    polyseme.save(model, place / "bert")
    polyseme.save(polyseme.Pretrained(tokenizer, BertEncoder(config), {}, None), place / "other")
    rows = "".join(f"{word} {' '.join(str(hash((word, i)) % 97 / 97) for i in range(8))}\n" for word in WORDS)
    (place / "glove.txt").write_text(rows)
    draw = [
        f"The {WORDS[4 + i % 5]} had a crack in the {WORDS[5 + i % 7]} at night. It was {WORDS[5 + i % 14]}."
        for i in range(60)
    ]
    (place / "corpus.txt").write_text("\n\n".join(draw))
    (place / "train.conll").write_text(tagged(40))
    (place / "dev.conll").write_text(tagged(20))
    header = "word\tpos\tindex_a\tindex_b\ttext_a\ttext_b\tlabel\n"
    row = "crack\tN\t1\t4\tthe crack in the wall\the was high the crack\t"
    (place / "wic-train.tsv").write_text(header + "".join(f"{row}{label}\n" for label in ("same", "different") * 5))
    (place / "wic-dev.tsv").write_text(header + f"{row}same\n{row}different\n")
    (place / "semcor.jsonl").write_text(senses(10))
    (place / "senses-test.jsonl").write_text(senses(4))
    (place / "inventory.jsonl").write_text(json.dumps({"lemma": "bank", "pos": "noun", "keys": ["bank%money"]}) + "\n")
    (place / "blimp").mkdir()
    for name in ("order", "verbs"):
        pairs = [{"sentence_good": f"the {word} was", "sentence_bad": f"was the {word}"} for word in WORDS[2:8]]
        (place / "blimp" / f"{name}.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    (place / "pairs.txt").write_text("crack\twall\t5\nbank\triver\t8\nspring\tnight\t3\ngood\tbad\t4\n")
    return place


def asked(**options):
    return lens_kinds.Asked(**dict.fromkeys(lens_kinds.Asked._fields) | options)


@pytest.fixture
def run(place, monkeypatch, capsys, tmp_path):
    """A function that runs the command in this process: exit code, stdout, stderr."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("POLYSEME_CACHE", str(tmp_path / "cache"))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["polyseme", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


ASKED = ["senses", "crack", "The crack in the wall.", "He was high: crack."]


def test_senses_shows_static_beside_contextual(run):
    code, out, err = run(*ASKED, "--model", "glove.txt", "bert", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    static, bert = facts["models"]
    assert static["layers"][0]["cosines"][0][1] == pytest.approx(1)
    assert len(bert["layers"]) == 3
    assert bert["layers"][2]["cosines"][0][1] < 0.999
    shown = run(*ASKED, "--model", "glove.txt", "bert")[1]
    assert "glove.txt (static)  0: 1.00" in shown
    assert "[crack]" in shown


def test_senses_with_a_corpus_shows_groups_nearest_and_a_picture(run, tmp_path):
    options = ["--model", "glove.txt", "bert", "--corpus", "corpus.txt", "--out", tmp_path / "crack.png"]
    code, out, err = run(*ASKED, *options)
    assert code == 0, err
    assert "'crack' stands 60 times in the corpus" in out
    assert "sense 2:" in out
    assert "nearest to sentence 2" in out
    assert (tmp_path / "crack.png").read_bytes().startswith(PNG)
    code, _, err = run(*ASKED, *options)
    assert code == 1
    assert "there already" in err
    grouping = json.loads(run(*ASKED, *options[:-2], "--json", "--senses", "3")[1])["models"][1]["grouping"]
    assert sum(sense["occurrences"] for sense in grouping["senses"]) == 60
    assert len(grouping["senses"]) == 3


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (["senses", "crack", "No such word.", "-m", "glove.txt"], "its words are No, such, word"),
        (["senses", "crack", "One crack.", "-m", "glove.txt"], "One context can be compared with nothing"),
        ([*ASKED, "-m", "glove.txt", "--out", "x.gif"], "no kind of picture"),
        ([*ASKED, "-m", "bert", "--corpus", "wic-dev.tsv"], "it is a table"),
        ([*ASKED, "-m", "bert", "--corpus", "pairs.txt"], "the least to compare"),
        (["lens", "wick", "x.tsv", "-m", "bert"], "There is no kind 'wick'"),
        (["lens", "similarity", "absent.txt", "-m", "bert"], "absent.txt: there is no such file"),
        (["lens", "pairs", "blimp", "-m", "glove.txt"], "cannot score text"),
        (["study", "everything", "--out", "x"], "There is no study 'everything'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, arguments, problem):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert problem in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (["wic", "wic-train.tsv"], "wic wants --test"),
        (["wic", "wic-train.tsv", "--test", "wic-dev.tsv", "--inventory", "x"], "--inventory is not for wic"),
        (["cka", "corpus.txt"], "cka compares two models"),
        (["neighbours", "corpus.txt", "--word", "crack"], "neighbours wants --sentence"),
        (["probe", "a", "b", "--test", "dev.conll"], "one file of data is wanted"),
        (["wic", "wic-train.tsv", "--test", "wic-dev.tsv", "--seed", "0"], "--seed is not for wic"),
        (["similarity", "pairs.txt", "--n", "4"], "--n is not for similarity"),
        (["pairs", "blimp", "--field", "text"], "--field is not for pairs"),
    ],
)
def test_misuse_is_told_as_such(run, arguments, problem):
    code, _, err = run("lens", *arguments, "-m", "bert")
    assert code == 2
    assert problem in re.sub(r"\s*│\s*", " ", err)


KINDS = [
    (["wic", "wic-train.tsv", "--test", "wic-dev.tsv"], 4, {"accuracy", "low", "high", "threshold"}),
    (["wsd", "semcor.jsonl", "--test", "senses-test.jsonl", "--inventory", "inventory.jsonl"], 6, {"f1", "seen"}),
    (["probe", "train.conll", "--test", "dev.conll"], 4, {"accuracy", "control", "selectivity"}),
    (["isotropy", "corpus.txt"], 4, {"random", "self_similarity", "intra_sentence"}),
    (["similarity", "pairs.txt"], 4, {"spearman", "covered", "set"}),
    (["neighbours", "corpus.txt", "--word", "crack", "--sentence", "A crack!", "-n", "4"], 8, {"cosine", "word"}),
]


@pytest.mark.parametrize("arguments, n_rows, columns", KINDS)
def test_every_kind_measures_each_model_and_draws(run, tmp_path, arguments, n_rows, columns):
    picture = tmp_path / "picture.png"
    code, out, err = run("lens", *arguments, "--model", "glove.txt", "bert", "--json", "--out", picture)
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == n_rows
    assert {row["model"] for row in rows} == {"glove.txt", "bert"}
    assert columns < set(rows[0])
    assert picture.read_bytes().startswith(PNG)
    table = run("lens", *arguments, "--model", "glove.txt", "bert")[1].splitlines()
    assert len(table) == n_rows + 1


def test_pairs_are_scored_by_paradigm(run, tmp_path):
    options = ["--limit", "3", "--lower", "--json", "--out", tmp_path / "pairs.png"]
    code, out, err = run("lens", "pairs", "blimp", "-m", "bert", *options)
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["paradigm"], row["n"]) for row in rows] == [("order", 3), ("verbs", 3), ("all", 6)]


def test_cka_compares_all_layers_of_two_models(run, tmp_path):
    options = ["--json", "--out", tmp_path / "cka.png"]
    code, out, err = run("lens", "cka", "corpus.txt", "-m", "bert", "other", *options)
    assert code == 0, err
    assert len(out.splitlines()) == 9
    rows = [
        json.loads(line) for line in run("lens", "cka", "corpus.txt", "-m", "bert", "bert/", "--json")[1].splitlines()
    ]
    assert rows[0]["cka"] == pytest.approx(1)


def test_layers_are_chosen_from_the_top_too(run):
    code, out, err = run("lens", "cka", "corpus.txt", "-m", "bert", "other", "--layers", "0", "-1", "--json")
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["layer"], row["other_layer"]) for row in rows] == [(0, 0), (0, -1), (-1, 0), (-1, -1)]


def test_sets_of_one_name_are_measured_apart(run, tmp_path):
    for name, score in (("a", 1), ("b", 9)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pairs.txt").write_text(f"crack wall {score}\nbank river 2\nspring night 3\ngood bad 4\n")
    sets = [tmp_path / name / "pairs.txt" for name in "ab"]
    rows = [json.loads(line) for line in run("lens", "similarity", *sets, "-m", "glove.txt", "--json")[1].splitlines()]
    assert [row["set"] for row in rows] == ["a/pairs.txt", "b/pairs.txt"]


def test_what_could_not_be_measured_is_null_in_json(run, tmp_path):
    (tmp_path / "text.txt").write_text("the crack\n\na wall\n")
    code, out, err = run("lens", "isotropy", tmp_path / "text.txt", "-m", "bert", "--json")
    assert code == 0, err
    assert "NaN" not in out
    assert json.loads(out.splitlines()[0])["self_similarity"] is None
    assert "nan" not in run("lens", "isotropy", tmp_path / "text.txt", "-m", "bert")[1]


def test_a_limit_is_that_many_sentences_whatever_their_length(place, tmp_path):
    long = "\n\n".join(
        f"This is number {n} and it goes on {'with more words ' * 15}until it ends ." for n in range(200)
    )
    (tmp_path / "long.txt").write_text(long)
    for limit in (30, 100, 500):
        texts = lens_kinds._texts(asked(data=[tmp_path / "long.txt"], limit=limit, seed=0, field="text"))
        assert len(texts) == min(limit, 200)
    one, other = (lens_kinds._texts(asked(data=[tmp_path / "long.txt"], limit=30, seed=seed)) for seed in (0, 1))
    assert one != other


def test_a_limit_of_senses_is_chosen_by_the_seed(run, monkeypatch, tmp_path):
    data, seen = tmp_path / "senses.tsv", []
    data.write_text("word\tsense\ttext\n" + "".join(f"bank\tmoney\tbank number {n}\n" for n in range(40)))
    monkeypatch.setattr("polyseme.lens.wsd.wsd", lambda model, train, *_: seen.append(train) or [])
    for seed in (1, 1, 2):
        run("lens", "wsd", data, "--test", "senses-test.jsonl", "-m", "bert", "--limit", "4", "--seed", seed)
    assert [len(train) for train in seen] == [4, 4, 4]
    assert seen[0] == seen[1] != seen[2]
    assert seen[0] != list(read_senses(data).examples[:4])


def test_the_commands_and_the_code_of_their_page_run(run, place, monkeypatch, capsys):
    page = (Path(__file__).parent.parent.parent / "docs" / "looking-inside.md").read_text()
    for block in re.findall(r"^```sh\n(.*?)^```", page, re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            code, out, err = run(*shlex.split(line)[1:])
            assert code == 0, f"{line}\n{err}"
            assert out
    for block in re.findall(r"^```python\n(.*?)^```", page, re.S | re.M):
        exec(compile(block, "looking-inside.md", "exec"), {})
        assert capsys.readouterr().out
