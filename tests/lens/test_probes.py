import random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from polyseme.errors import Mistake
from polyseme.lens import probes as module
from polyseme.lens.probes import control_tags, probe
from polyseme.tasks.examples import TaggedWords

NOUNS, VERBS, OTHERS = ["wall", "bank", "river", "film"], ["was", "came", "fly"], ["the", "a", "."]


def sentences(n, seed):
    draw, found = random.Random(seed), []
    for _ in range(n):
        words = ["the", draw.choice(NOUNS), draw.choice(VERBS), "a", draw.choice(NOUNS), "."]
        tags = ["NOUN" if w in NOUNS else "VERB" if w in VERBS else "X" for w in words]
        found.append(TaggedWords(tuple(words), tuple(tags)))
    return found


def test_a_probe_is_scikit_learns_regression_on_standardised_vectors(tiny_bert):
    train, test = sentences(40, 0), sentences(20, 1)
    found = probe(tiny_bert, train, test)
    for layer in found.layers:
        rows = [
            np.concatenate(tiny_bert.embed([one.words for one in part], layers=layer.layer)) for part in (train, test)
        ]
        tags = [[tag for one in part for tag in one.tags] for part in (train, test)]
        scaler = StandardScaler().fit(rows[0])
        oracle = LogisticRegression(max_iter=300, tol=1e-3).fit(scaler.transform(rows[0]), tags[0])
        assert layer.accuracy == pytest.approx(oracle.score(scaler.transform(rows[1]), tags[1]), abs=0.02)
        assert layer.low <= layer.accuracy <= layer.high
        assert layer.selectivity == pytest.approx(layer.accuracy - layer.control)
    assert (found.n_train, found.n_test, found.baseline) == (240, 120, 1.0)


def test_a_control_task_gives_a_word_one_tag_wherever_it_stands():
    words = [f"w{n}" for n in range(3000)] * 2
    tags = np.array(["A"] * 900 + ["B"] * 100)
    found = control_tags(words, tags, seed=1)
    assert found[:3000].tolist() == found[3000:].tolist()
    assert 0.05 < (found == "B").mean() < 0.15  # as often as tags occur
    assert found.tolist() != control_tags(words, tags, seed=2).tolist()


def test_vectors_that_name_the_word_learn_the_control_task_by_heart(tiny_static):
    found = probe(tiny_static, sentences(60, 0), sentences(30, 1))
    (layer,) = found.layers
    assert layer.control > 0.9
    assert abs(layer.selectivity) < 0.1


def test_one_tag_cannot_be_probed(tiny_static):
    one = [TaggedWords(("the", "wall"), ("X", "X"))]
    with pytest.raises(Mistake, match="All words have the tag"):
        probe(tiny_static, one, one)


def test_a_control_task_may_draw_one_tag_for_all_words(tiny_static):
    words = [TaggedWords(("the", "wall", "was", "red"), ("O", "O", "O", "O"))] * 30
    found = probe(tiny_static, [*words, TaggedWords(("the", "London"), ("O", "B"))], words)
    assert len(set(control_tags(["the", "wall", "was", "red", "London"], np.array(["O"] * 121 + ["B"]), 0))) == 1
    assert found.layers[0].control == 1


def test_more_vectors_than_memory_holds_are_refused(tiny_static, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    with pytest.raises(Mistake, match=r"The vectors of 360 words at 1 layers would take.*--limit"):
        probe(tiny_static, sentences(40, 0), sentences(20, 1))
