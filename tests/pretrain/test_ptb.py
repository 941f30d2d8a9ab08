"""The biLM on the Penn Treebank: figures that docs/benchmarks.md states."""

import json

import pytest

from polyseme.pretrain import pretrain, recipe

PERPLEXITY = 0.0  # forward, on the validation part


@pytest.mark.slow
def test_elmo_tiny_on_the_penn_treebank_reaches_its_perplexity_and_falls_every_epoch(shared, tmp_path):
    train, valid = (str(shared / "ptb" / f"ptb.{part}.txt") for part in ("train", "valid"))
    changes = ["epochs=6", "shuffle=none"]
    run = pretrain(recipe("elmo-tiny", changes), [train], tmp_path / "run", valid=[valid], split=True)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    perplexities = [line["forward_perplexity"] for line in lines if "forward_perplexity" in line]
    assert perplexities == sorted(perplexities, reverse=True)
    assert perplexities[-1] < PERPLEXITY
