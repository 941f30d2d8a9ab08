import io
import sys

import pytest
from toys import reviews

from polyseme.cli import live
from polyseme.comparison.compare import comparison
from polyseme.comparison.plan import Axes
from polyseme.encoders import Pretrained
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.text.bags import BagTokenizer
from polyseme.train.report import Report


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def asked(tmp_path):
    static = Pretrained(
        BagTokenizer(("film", "good", "bad"), None, True), StaticEncoder(StaticConfig(n_rows=3, width=8)).eval()
    )
    axes = Axes(seeds=(0, 1), chosen=(("epochs", 1), ("cache", False)))
    return comparison("classify", reviews(40), {"words [old]": static}, axes, tmp_path / "out", reviews(20, seed=2))


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_rows_and_what_is_said_are_shown_as_they_come(stream, asked, monkeypatch):
    monkeypatch.setattr(sys, "stderr", shown := stream())
    monkeypatch.setattr(live, "_EVERY", 0.0)
    with live.Live() as screen:
        screen.begin(asked)
        for cell, line in asked.steps(screen.tell):
            screen.done(cell, line)
        screen.tell(Report("Fitting", 1, 1, said="beginning again"))  # stands with the fit's own line
        screen.tell(Report("Reading", 1, 1, said="said in [brackets]"))
    text = shown.getvalue()
    assert "2 fits, the results in" in text
    assert "words [old]" in text
    assert "said in [brackets]" in text
    assert "beginning again" not in text
    assert "0:00 left" in text
    assert ("2/2 · words [old]" in text) == (stream is io.StringIO)  # a line a fit where no table grows


def test_a_fit_that_began_again_says_so_in_its_line(asked, monkeypatch):
    monkeypatch.setattr(sys, "stderr", shown := io.StringIO())
    with live.Live() as screen:
        screen.begin(asked)
        for cell, line in asked.steps(screen.tell):
            screen.done(cell, {**line, "said": ["one", "two"]})
    assert "begun again 2 times, as it said one class of everything" in shown.getvalue()
