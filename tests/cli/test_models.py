import json

from polyseme.cli import models


def test_scores_that_are_no_numbers_are_not_shown(tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps({"family": "bert"}))
    for metrics in ({"perplexity": 31.415, "recipe": "tiny", "curve": [1, 2]}, ["what"]):
        (tmp_path / "polyseme.json").write_text(json.dumps({"metrics": metrics}))
        models._show([models._facts("small", tmp_path, "in the box")])
        shown = capsys.readouterr().out
        assert "small" in shown
        assert ("perplexity 31.4" in shown) == isinstance(metrics, dict)
        assert "tiny" not in shown
