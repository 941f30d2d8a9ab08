import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from toys import reviews

import polyseme
from polyseme.cli import main

PNG = b"\x89PNG"
QUICK = ["n_pieces=60", "steps=6", "length=16", "long_length=null", "positions=64", "adjacent=false",
         "encoder.num_hidden_layers=1", "encoder.hidden_size=16", "encoder.num_attention_heads=2",
         "encoder.intermediate_size=16"]  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A function that runs the command in this process; what it printed."""
    monkeypatch.setenv("POLYSEME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # this source, not an installed one
    monkeypatch.chdir(tmp_path)

    def call(*arguments, wanted=0):
        monkeypatch.setattr(sys, "argv", ["polyseme", "study", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert end.value.code == wanted, err
        return out if wanted == 0 else err

    return call


@pytest.fixture
def corpus(tmp_path):
    draw = random.Random(0)
    words = "the film was good great early bad awful not movie is".split()
    lines = [" ".join(draw.choices(words, k=8)) + " ." for _ in range(60)]
    (tmp_path / "text.txt").write_text("\n\n".join(lines))
    return tmp_path / "text.txt"


@pytest.fixture
def table(tmp_path):
    data = reviews(120)
    with (tmp_path / "reviews.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *zip(data.inputs, data.labels, strict=True)])
    return tmp_path / "reviews.csv"


def test_the_mask_rate_study_makes_a_row_a_rate_and_goes_on_where_it_was(run, corpus, table, tmp_path):
    common = ["mask-rate", "--corpus", corpus, "--out", "study", "--set", *QUICK, "--json", "--task", "classify"]
    options = [*common, "--data", table, "--fit", "epochs=1", "--rates"]
    rows = [json.loads(line) for line in run(*options, 0.15, 0.5).splitlines()]
    assert [row["rate"] for row in rows] == [0.15, 0.5]
    assert all({"masked_loss", "masked_accuracy", "score"} <= set(row) for row in rows)
    assert rows[0]["masked_loss"] != rows[1]["masked_loss"]
    assert (tmp_path / "study" / "study.png").read_bytes().startswith(PNG)
    before = (tmp_path / "study" / "rate-0.5" / "model" / "model.safetensors").stat().st_mtime_ns
    again = [json.loads(line) for line in run(*options, 0.3, 0.5, 0.15).splitlines()]
    assert [again[0], again[2]] == rows
    assert (tmp_path / "study" / "rate-0.5" / "model" / "model.safetensors").stat().st_mtime_ns == before


def test_a_study_that_is_killed_ends_with_the_same_rows(run, corpus, tmp_path):
    options = ["mask-rate", "--corpus", str(corpus), "--rates", "0.15", "0.5", "--json", "--set", *QUICK]
    options[-len(QUICK) + 1] = "steps=24"
    whole = run(*options, "--out", "whole")
    command = [sys.executable, "-m", "polyseme", "study", *options, "--out", "killed"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "killed" / "rate-0.15" / "metrics.jsonl").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed" / "study.json").exists()
    assert run(*options, "--out", "killed") == whole


def test_the_layer_study_reads_each_layer_and_both_mixes(run, corpus, table, tmp_path):
    run("mask-rate", "--corpus", corpus, "--out", "made", "--rates", 0.15, "--set", *QUICK)
    options = ["layers", "--task", "classify", "--data", table, "--encoder", "made/rate-0.15", "--out", "layers"]
    rows = [json.loads(line) for line in run(*options, "--fit", "epochs=2", "--seeds", 2, "--json").splitlines()]
    assert [row["layers"] for row in rows] == ["layer 0", "top", "equal mix", "learned mix"]
    assert all(row["low"] <= row["score"] <= row["high"] for row in rows)
    assert sum(rows[-1]["weights"]) == pytest.approx(1)
    assert rows[0]["weights"] is None
    assert (tmp_path / "layers" / "study.png").read_bytes().startswith(PNG)
    assert "learned mix" in run(*options, "--fit", "epochs=2", "--seeds", 2)
    assert polyseme.load(tmp_path / "layers" / "top-seed-0").encoder.widths == (16, 16)  # a fitted model is a model too


@pytest.mark.parametrize(
    "arguments, wanted, problem",
    [
        (["mask-rate", "--rates", "0.15"], 2, "--corpus is missing"),
        (["layers", "--task", "tag"], 2, "--encoder, --data is missing"),
        (["mask-rate", "--corpus", "text.txt", "--rates", "1.5"], 1, "A rate is a share above 0 and at most 1"),
        (["mask-rate", "--corpus", "text.txt", "--recipe", "elmo-tiny"], 1, "which masks nothing"),
        (["mask-rate", "--corpus", "text.txt", "--set", "predict=0.2"], 1, "predict is what this study changes"),
        (
            ["layers", "--task", "tag", "--data", "x", "-e", "x", "--fit", "tune=full"],
            1,
            "tune is what this study sets",
        ),
        (["layers", "--task", "tag", "--data", "x", "-e", "x", "--fit", "seed=3"], 1, "seed is what this study sets"),
    ],
)
def test_what_is_wrong_is_told(run, corpus, arguments, wanted, problem):
    said = run(*arguments, "--out", "study", wanted=wanted)
    assert problem in re.sub(r"\s*│\s*", " ", said)
