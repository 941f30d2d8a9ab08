"""The plain lines, and what is said beside the bars of a terminal; those are rich's."""

import io
import sys

import pytest

from polyseme.cli import progress
from polyseme.cli.live import Live


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only when the test says so."""

    class Clock:
        now = 100.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


def test_the_time_left_is_told_every_few_seconds(clock, capsys):
    with progress.Stages() as stages:
        stages.show("Reading", 0, 100)
        clock.now += 10
        stages.show("Reading", 25, 100, "so far")
        clock.now += 1
        stages.show("Reading", 30, 100)
    assert capsys.readouterr().err == "Reading: 25 % · 0:30 left · so far\n"


def test_what_an_earlier_run_did_does_not_make_a_resumed_one_seem_fast(clock, capsys):
    with progress.Stages() as stages:
        stages.show("Pretraining", 80, 100, "resumed")
        clock.now += 10
        stages.show("Pretraining", 81, 100, "on")
    assert capsys.readouterr().err == "Pretraining: 81 % · 3:10 left · on\n"


def test_before_anything_is_done_the_time_left_is_unknown(clock, capsys):
    with progress.Stages() as stages:
        clock.now += 10
        stages.show("Pretraining", 80, 100, "resumed")
    assert capsys.readouterr().err == "Pretraining: 80 % · ? left · resumed\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("line", ["data[old].csv: text column 'text'", "label column '[/b]'", "[red]no markup"])
def test_brackets_are_shown_as_they_are(line, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress.Stages() as stages:
        stages.say(line)
        stages.show("Reading", 1, 2, line)
    assert terminal.getvalue().count(line) >= 2


@pytest.mark.parametrize("shown", [progress.Stages, Live])
def test_results_for_a_file_stay_out_of_the_terminal(shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(sys, "stdout", file := io.StringIO())
    with shown():
        print("a result")
    assert file.getvalue() == "a result\n"
    assert "a result" not in terminal.getvalue()
