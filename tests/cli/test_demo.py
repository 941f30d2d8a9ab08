"""polyseme demo, but for its two minutes of fits."""

import pytest
from rich.console import Console

import polyseme
from polyseme.cli import demo
from polyseme.starters import starters


@pytest.fixture
def console():
    return Console(record=True, width=100, color_system=None)


@pytest.fixture(scope="module")
def contextual():
    return {name: polyseme.load(name) for name in demo._CONTEXTUAL}


def test_the_word_is_shown_with_and_without_its_context(console, contextual):
    demo._show_word(console, polyseme.load("static-starter"), contextual)
    shown = console.export_text()
    assert "static-starter (26,000 words, one vector each). Nearest to crack:" in shown
    for name in contextual:
        assert f"{name}, layer by layer" in shown
    matrix = [line for line in shown.splitlines() if line.strip().startswith("1  1.0")]
    assert matrix[0].split()[1:7] == ["1.0"] * 6  # a static vector is the same everywhere
    assert matrix[0].split()[8:14] != ["1.0"] * 6


def test_the_blank_is_filled_by_both_directions_and_from_all_around(console, contextual):
    demo._show_blank(console, contextual)
    shown = console.export_text()
    for way in ("elmo-starter   forward", "ulmfit-starter backward", "bert-starter   both"):
        (line,) = (line for line in shown.splitlines() if way in line)
        assert line.count(", ") >= 5


def test_every_encoder_is_compared_frozen_and_tuned_and_a_bert_from_scratch(tmp_path):
    asked = demo.comparison_of_all(tmp_path / "out")
    ways = [str(way) for way in asked.plan.ways]
    assert len(ways) == len(set(ways)) == 2 * len(starters()) + 1
    assert {"static-starter · top · frozen", "elmo-starter · mix · frozen", "bert-starter · mix · frozen"} <= set(ways)
    assert {f"{name} · top · full" for name in starters() if name != "ulmfit-starter"} <= set(ways)
    assert {"ulmfit-starter · top · frozen", "ulmfit-starter · top · gradual"} <= set(ways)
    assert "bert-starter · from scratch · top · full" in ways
    encoders = [cell.way.encoder for cell in asked.plan.cells]
    assert encoders == sorted(encoders, key=list(starters()).index)  # each is loaded once
    assert len(asked.parts.train.labels) == 900
    assert len(asked.parts.test.labels) == 300
    assert not asked.said


def test_what_to_do_next_can_be_typed(console, tmp_path):
    from types import SimpleNamespace

    from polyseme.cli import VERBS

    demo._show_next(console, SimpleNamespace(report=tmp_path / "report.html"))
    typed = [line.split()[1] for line in console.export_text().splitlines() if line.startswith("  polyseme ")]
    assert len(typed) >= 6
    assert {verb.rstrip(";") for verb in typed} <= set(VERBS)
