import json

import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.lens import pictures, sense_pictures
from polyseme.lens.views import View
from polyseme.text.mentions import mentions

SENTENCES = ["the crack in the wall", "he was high , crack ."]
CORPUS = [
    f"the {word} crack {where} the wall ." for word in ("red", "blue", "good") for where in ("in", "at", "it", ",")
]


def view(pretrained, **options):
    return View.of("tiny", pretrained, mentions(SENTENCES, "crack"), mentions(CORPUS, "crack"), **options)


def test_a_view_shows_layers_senses_and_nearest(tiny_bert):
    found = view(tiny_bert, n_senses=2)
    cosines = found.asked.cosines()
    assert found.mean_cosines() == pytest.approx([rows[0, 1] for rows in cosines], abs=1e-6)
    senses = found.senses(2)
    assert sum(sense["occurrences"] for sense in senses) == len(CORPUS)
    assert all(line["word"] == "crack" for sense in senses for line in sense["examples"])
    assert [len(lines) for lines in found.nearest(3)] == [3, 3]
    facts = json.loads(json.dumps(found.facts(2)))
    assert np.array(facts["layers"][1]["cosines"]).shape == (2, 2)
    assert facts["grouping"]["layer"] == 2


def test_static_vectors_have_no_senses(tiny_static):
    found = view(tiny_static)
    assert found.grouping is None
    assert found.mean_cosines() == pytest.approx([1])
    assert found.senses() == found.nearest() == []


def test_a_layer_that_is_not_there_is_told(tiny_bert):
    with pytest.raises(Mistake, match=r"layer=7 was asked for; tiny has the layers 0 \(context-free\) to 2"):
        view(tiny_bert, layer=7)


def test_a_word_without_a_vector_is_told(tiny_static):
    with pytest.raises(Mistake, match="'zebra' has no vector in tiny"):
        View.of("tiny", tiny_static, mentions(["the zebra", "a zebra"], "zebra"))


def test_pictures_are_drawn_and_whole(tiny_bert, tiny_static, tmp_path):
    pytest.importorskip("matplotlib")
    figure = sense_pictures.draw("crack", [view(tiny_static), view(tiny_bert)])
    for kind in ("png", "svg"):
        pictures.save(figure, tmp_path / f"senses.{kind}")
        assert (tmp_path / f"senses.{kind}").stat().st_size > 5000
    assert len([axes for part in figure.subfigs for axes in part.axes if axes.images]) == 4  # 1 + 3 layers
    pictures.save(sense_pictures.draw("crack", [view(tiny_static)]), tmp_path / "static.png")


def test_what_is_no_picture_is_told_before_the_work(tmp_path):
    with pytest.raises(Mistake, match=r"senses\.gif is no kind of picture"):
        pictures.check_place(tmp_path / "senses.gif")


def test_a_layer_without_context_has_no_senses_and_says_so(tiny_elmo):
    with pytest.raises(Mistake, match="All 12 occurrences have one vector at this layer"):
        view(tiny_elmo, layer=0)
    assert view(tiny_elmo, layer=1).grouping is not None


def test_a_dollar_is_a_dollar_in_pictures(tiny_bert, tmp_path):
    pytest.importorskip("matplotlib")
    text = "It cost $5 { to crack a $10 ^ nut ."
    paid = View.of("a$b{$", tiny_bert, mentions([text, "the crack"], "crack"))
    figure = sense_pictures.draw("crack", [paid])
    (names,) = figure.subfigs[-1].texts
    assert text.replace("$", r"\$") in names.get_text()
    pictures.save(figure, tmp_path / "senses.png")
    rows = [{"model": "$5 {", "name": "$5 { [crack] $", "layer": 0, "cosine": 0.5, "random": 0.1}]
    pictures.save(pictures.bars(rows, "name", "cosine", "$ { $"), tmp_path / "bars.png")
    pictures.save(pictures.curves(rows, "cosine", "$ { $", "random"), tmp_path / "curves.png")
    pictures.save(pictures.heat(np.eye(2), "CKA", "$ { $", "$ { $"), tmp_path / "heat.png")
