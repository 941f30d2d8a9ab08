import csv
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
    assert json.loads(run("evaluate", tmp_path / "run", tmp_path / "ner.txt", "--json").stdout)["span_f1"] > 0.9
    assert run("predict", tmp_path / "run", tmp_path / "ner.txt").stdout.startswith("B-PER O B-LOC")


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
    assert done.stderr.strip().count("\n") <= 1


def test_an_encoder_cannot_predict(run, encoder, table):
    assert "has not been fitted" in run("predict", encoder, table, wanted=1).stderr
    assert "There is no task" in run("fit", "clasify", table, "--encoder", encoder, "--out", "x", wanted=1).stderr
