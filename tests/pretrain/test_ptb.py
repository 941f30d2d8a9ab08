import json

import pytest

from polyseme.pretrain import pretrain, recipe


@pytest.mark.slow
def test_elmo_tiny_comes_to_a_perplexity_of_120_on_the_penn_treebank_and_never_gets_worse(shared, kept_runs):
    """Six epochs, about three quarters of an hour on two cores; docs/benchmarks.md has what was seen."""
    ptb = shared / "data" / "ptb"
    settings = recipe("elmo-tiny", ["shuffle=none", "epochs=6"])
    out = pretrain(
        settings, [str(ptb / "ptb.train.txt")], kept_runs / "ptb", valid=[str(ptb / "ptb.valid.txt")], split=True
    )
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    forward = [line["forward_perplexity"] for line in lines if "forward_perplexity" in line]
    assert len(forward) == 6
    assert forward == sorted(forward, reverse=True)
    assert forward[-1] < 120
    assert [line["backward_perplexity"] for line in lines if "backward_perplexity" in line][-1] < 120
