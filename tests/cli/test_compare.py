import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from toys import reviews

from polyseme.formats import save

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def encoder(tmp_path):
    import torch

    from polyseme.encoders import Pretrained
    from polyseme.encoders.static import StaticConfig, StaticEncoder
    from polyseme.text.bags import BagTokenizer

    torch.manual_seed(1)
    words = tuple("the film was movie is good great early bad awful not".split())
    static = StaticEncoder(StaticConfig(n_rows=len(words), width=24))
    save(Pretrained(BagTokenizer(words, None, True), static.eval()), tmp_path / "encoder")
    return tmp_path / "encoder"


@pytest.fixture
def table(tmp_path):
    data = reviews(160)
    with (tmp_path / "reviews.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *zip(data.inputs, data.labels, strict=True)])
    return tmp_path / "reviews.csv"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYSEME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))

    def call(*arguments, wanted=0):
        command = [sys.executable, "-m", "polyseme", "compare", *map(str, arguments), "--out", str(tmp_path / "out")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == wanted, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


def test_one_command_makes_a_table_and_a_page(run, encoder, table, tmp_path):
    options = ["--encoder", f"words={encoder}", "--tune", "frozen", "full", "--seeds", 2, "--labels", 20, "all"]
    done = run("classify", table, *options, "--epochs", 3, "--set", "head_rate=0.1")
    assert "words" in done.stdout
    assert str(tmp_path / "out" / "report.html") in done.stdout
    assert "8 fits" in done.stderr
    assert "8/8 · words · top · full" in done.stderr
    assert "32 examples are kept" in done.stderr
    facts = json.loads(run("classify", table, *options, "--epochs", 3, "--set", "head_rate=0.1", "--json").stdout)
    assert len(facts["rows"]) == 4
    assert facts["rows"][0]["encoder"] == "words"
    assert facts["rows"][0]["low"] <= facts["rows"][0]["score"] <= facts["rows"][0]["high"]
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 8


@pytest.mark.parametrize(
    "change, problem",
    [
        (["--labels", "few"], "no number of labels"),
        (["--labels", "²"], "no number of labels"),
        (["--layers=--1"], "layers='--1'"),
        (["--set", "seed=3"], "Give seeds"),
        (["--tune", "frosen"], "tune='frosen'"),
        (["--score", "accurcy"], "Did you mean 'accuracy'"),
        (["--set", "epoch=3"], "Did you mean 'epochs'"),
        (["--encoder", "absent"], "There is no file or folder 'absent'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_fitted(run, encoder, table, change, problem, tmp_path):
    done = run("classify", table, "--encoder", encoder, *change, wanted=1)
    assert problem in done.stderr
    assert not (tmp_path / "out" / "results.jsonl").exists()
