import csv
import gzip
import json
import subprocess
import sys

import pytest
from toys import reviews, tagged

from polyseme.formats import save


@pytest.fixture
def encoder(tmp_path):
    import torch

    from polyseme.encoders import Pretrained
    from polyseme.encoders.static import StaticConfig, StaticEncoder
    from polyseme.text.bags import BagTokenizer

    torch.manual_seed(1)
    words = tuple(
        "the film was movie is good great early bad awful not John Mary London Paris visited at night".split()
    )
    static = StaticEncoder(StaticConfig(n_rows=len(words), width=24))
    torch.nn.init.normal_(static.table.weight)
    save(Pretrained(BagTokenizer(words, None, True), static.eval()), tmp_path / "encoder")
    return tmp_path / "encoder"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYSEME_CACHE", str(tmp_path / "cache"))

    def call(*arguments, wanted=0):
        done = subprocess.run([sys.executable, "-m", "polyseme", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == wanted, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


@pytest.fixture
def table(tmp_path):
    data = reviews()
    with (tmp_path / "reviews.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *zip(data.inputs, data.labels, strict=True)])
    return tmp_path / "reviews.csv"


def test_fit_evaluate_and_predict_in_three_commands(run, encoder, table, tmp_path):
    out = tmp_path / "run"
    options = ["--encoder", encoder, "--out", out, "--test", table, "--epochs", 20, "--set", "head_rate=0.03"]
    fitted = json.loads(run("fit", "classify", table, *options, "--json").stdout)
    assert fitted["test"]["accuracy"] > 0.9
    assert "precision" in (out / "report.txt").read_text()
    assert not (out / "checkpoints").exists()
    assert json.loads(run("inspect", out, "--json").stdout)["files"] == "whole"
    measured = json.loads(run("evaluate", out, table, "--json").stdout)
    assert measured["classes"]["pos"].keys() == {"precision", "recall", "f1", "support"}
    assert measured["accuracy"] == fitted["test"]["accuracy"]
    assert "macro F1" in run("evaluate", out, table).stdout
    said = run("predict", out, table).stdout.split()
    assert len(said) == 80
    assert set(said) == {"neg", "pos"}
    (tmp_path / "new.txt").write_text("the film was great\nthe movie is awful\n")
    lines = [json.loads(line) for line in run("predict", out, tmp_path / "new.txt", "--json").stdout.splitlines()]
    assert [line["label"] for line in lines] == ["pos", "neg"]
    assert sum(lines[0]["scores"].values()) == pytest.approx(1)
    (tmp_path / "new.txt").write_text("the film was great\n\nthe movie is awful\n")
    said = run("predict", out, tmp_path / "new.txt").stdout.splitlines()
    assert (said[0], len(said), said[2]) == ("pos", 3, "neg")  # a line an example, also of one without words
    (out / "fitted" / "top.safetensors").write_bytes(b"damaged")
    assert "top.safetensors has changed" in run("inspect", out).stdout


def test_a_run_belongs_to_what_it_was_begun_with(run, encoder, table, tmp_path):
    options = ["fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "run", "--epochs"]
    run(*options, 1)
    assert "settings.epochs was 1, is 2" in run(*options, 2, wanted=1).stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    stranger = run("fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "mine", wanted=1)
    assert "files of its own" in stranger.stderr


def test_tags_are_fitted_from_conll_columns(run, encoder, tmp_path):
    data = tagged()
    lines = [
        "\n".join(map(" ".join, zip(words, tags, strict=True)))
        for words, tags in zip(data.inputs, data.labels, strict=True)
    ]
    (tmp_path / "ner.txt").write_text("\n\n".join(lines) + "\n")
    options = ["--encoder", encoder, "--out", tmp_path / "run", "--set", "head_rate=0.03"]
    run("fit", "tag", tmp_path / "ner.txt", *options)
    measured = json.loads(run("evaluate", tmp_path / "run", tmp_path / "ner.txt", "--json").stdout)
    assert measured["span_f1"] > 0.9
    assert measured["classes"].keys() == {"PER", "LOC"}
    assert "all spans" in run("evaluate", tmp_path / "run", tmp_path / "ner.txt").stdout
    lines = run("predict", tmp_path / "run", tmp_path / "ner.txt").stdout.splitlines()
    assert [line.split("\t")[1] for line in lines[:3]] == ["B-PER", "O", "B-LOC"]
    assert lines[6] == ""
    (tmp_path / "plain.txt").write_text("John  visited Paris at night.\nvisited at night\n")
    said = run("predict", tmp_path / "run", tmp_path / "plain.txt", "--json").stdout.splitlines()
    first, second = map(json.loads, said)
    assert first["words"] == ["John", "visited", "Paris", "at", "night", "."]
    assert len(first["label"]) == 6
    for found in first["spans"]:
        assert first["input"][found["start"] : found["end"]] == found["text"]
    assert {"type": "LOC", "text": "Paris", "start": 14, "end": 19} in first["spans"]
    assert second["spans"] == []
    said = json.loads(run("predict", tmp_path / "run", tmp_path / "ner.txt", "--json").stdout.splitlines()[0])
    assert said["spans"][0] == {"type": "PER", "text": said["words"][0], "first": 0, "last": 0}


@pytest.mark.parametrize(
    "change, problem",
    [
        (["--tune", "frosen"], "tune='frosen'"),
        (["--set", "epoch=3"], "Did you mean 'epochs'"),
        (["--set", "epochs"], "NAME=VALUE"),
        (["--layers", "9"], "layers=9 was asked for"),
        (["--layers=--1"], "layers='--1'"),
        (["--text", "txt"], "there is no column 'txt'"),
        (["--text-a", "text"], "no column for --text-a"),
        (["--test", "absent.csv"], "absent.csv"),
        (["--domain-epochs", "1"], "does not go on with its pretraining"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, encoder, table, tmp_path, change, problem):
    done = run("fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "run", *change, wanted=1)
    assert problem in done.stderr
    assert problem in done.stderr.strip().splitlines()[-1]


def test_an_encoder_cannot_predict(run, encoder, table):
    assert "has not been fitted" in run("predict", encoder, table, wanted=1).stderr
    assert "There is no task" in run("fit", "clasify", table, "--encoder", encoder, "--out", "x", wanted=1).stderr


def test_words_to_be_tagged_come_as_text_or_as_columns(run, encoder, tmp_path):
    data, out = tagged(60), tmp_path / "run"
    examples = [zip(*one, strict=True) for one in zip(data.inputs, data.labels, strict=True)]
    blocks = ["\n".join(f"{word} {tag}" for word, tag in one) for one in examples]
    (tmp_path / "ner.txt").write_text("\n\n".join(blocks) + "\n")
    run("fit", "tag", tmp_path / "ner.txt", "--encoder", encoder, "--out", out, "--epochs", 2)
    (tmp_path / "plain.txt").write_text("John visited Paris .\n")
    done = run("predict", out, tmp_path / "plain.txt")
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["John", "visited", "Paris", ".", ""]
    assert "read as text, a text a line" in done.stderr
    (tmp_path / "words.txt").write_text("John\nvisited\nParis\n\nMary\n")
    found = run("predict", out, tmp_path / "words.txt").stdout.split("\n\n")
    assert [len(block.splitlines()) for block in found] == [3, 1, 0]


def test_labels_that_were_never_learned_from_are_said(run, encoder, table, tmp_path):
    known = sorted({line.rsplit(",", 1)[1] for line in table.read_text().splitlines()[1:]})
    wrong, out = tmp_path / "typo.csv", tmp_path / "run"
    wrong.write_text(f"text,label\na good film,{known[0]}\na bad film,{known[1]}x\n")
    options = ["--encoder", encoder, "--epochs", 1, "--test", wrong]
    said = f"the label '{known[1]}x' (1 row) is in no row of"
    fitted = run("fit", "classify", table, "--out", out, *options).stderr
    assert said in fitted
    assert f"Did you mean '{known[1]}'?" in fitted
    assert said in run("evaluate", out, wrong).stderr
    assert said in run("compare", "classify", table, "--out", tmp_path / "compared", "--seeds", 1, *options).stderr


def test_a_class_a_row_is_doubted(run, encoder, tmp_path):
    numbered = tmp_path / "numbered.csv"
    numbered.write_text("text,label\n" + "".join(f"a good film {n},{n}\n" for n in range(40)))
    done = run("fit", "classify", numbered, "--encoder", encoder, "--out", tmp_path / "run", "--epochs", 1)
    assert "40 different labels in 40 rows" in done.stderr


def test_what_is_learned_from_is_said(run, encoder, table, tmp_path):
    done = run("fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "run", "--epochs", 1, "--limit", 20)
    assert "20 examples to learn from, too few to hold any out: epochs are not measured." in done.stderr
    assert "1 epochs are 1 steps, too few for most heads" in done.stderr
    done = run("fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "other", "--limit", 20)
    assert "too few for most heads" not in done.stderr


def test_what_is_no_fitted_model_is_told_apart(run, table, tmp_path):
    assert "There is no folder" in run("predict", tmp_path / "nosuch", table, wanted=1).stderr
    assert (
        "bert-starter is an encoder that has not been fitted" in run("predict", "bert-starter", table, wanted=1).stderr
    )
    (tmp_path / "comparison.json").write_text("{}")
    assert "is a comparison, which keeps no models" in run("predict", tmp_path, table, wanted=1).stderr


@pytest.mark.parametrize("name", ["lines.text", "LINES.TXT", "lines.txt.gz", "lines"])
def test_a_text_a_line_is_predicted_whatever_its_file_is_called(run, encoder, table, tmp_path, name):
    run("fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "run", "--epochs", 1)
    text = "A good film\nA bad film\n"
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    said = run("predict", tmp_path / "run", tmp_path / name, "--json").stdout.splitlines()
    assert [json.loads(line)["input"] for line in said] == text.splitlines()


@pytest.mark.parametrize("content", ["", "x", '{"a":', "[]"])
def test_a_damaged_result_is_made_again(run, encoder, table, tmp_path, content):
    command = ("fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "run", "--epochs", 1, "--json")
    first = json.loads(run(*command).stdout)
    (tmp_path / "run" / "result.json").write_text(content)
    assert json.loads(run(*command).stdout)["held out"] == first["held out"]


@pytest.mark.parametrize("content", ["{}", "[]", "x", "[" * 100_000, '{"version": "2.0.0"}'])
def test_a_task_file_of_somebody_else_is_passed_over_by_inspect(run, encoder, tmp_path, content):
    (encoder.parent / "task.json").write_text(content)
    assert json.loads(run("inspect", encoder, "--json").stdout)["fitted"] is None


def test_json_is_utf_8_whatever_the_terminal_is(run, encoder, table, tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    run("fit", "classify", table, "--encoder", encoder, "--out", tmp_path / "run", "--epochs", 1)
    (tmp_path / "lines.txt").write_text("Größe 🎬\n", "utf-8")
    command = [sys.executable, "-m", "polyseme", "predict", tmp_path / "run", tmp_path / "lines.txt", "--json"]
    said = subprocess.run(command, capture_output=True).stdout
    assert json.loads(said.decode("utf-8"))["input"] == "Größe 🎬"


def test_words_that_an_encoder_does_not_know_are_said(run, encoder, tmp_path):
    rows = ["text,label", *["die Rechnung war gut,gut", "die Rechnung war falsch,schlecht"] * 10]
    (tmp_path / "german.csv").write_text("\n".join(rows) + "\n")
    said = run("fit", "classify", tmp_path / "german.csv", "--encoder", encoder, "--out", tmp_path / "run").stderr
    assert "The encoder knows 0% of the words; not die, Rechnung, war" in said
