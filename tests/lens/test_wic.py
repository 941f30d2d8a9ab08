import numpy as np
import pytest

from polyseme.lens import wic as module
from polyseme.lens.wic import best_threshold, wic
from polyseme.tasks.wic import WordInContexts


@pytest.mark.parametrize("seed", range(5))
def test_no_other_threshold_is_right_more_often(seed):
    draw = np.random.default_rng(seed)
    cosines, same = draw.integers(0, 12, 40) / 12, draw.random(40) < 0.5  # with many equal values
    chosen = best_threshold(cosines, same)
    rights = [((cosines >= threshold) == same).sum() for threshold in np.linspace(-0.1, 1.1, 500)]
    assert ((cosines >= chosen) == same).sum() == max(rights)


def test_what_differs_only_in_context_is_told_by_layers_that_see_it(tiny_bert, tiny_static):
    def pair(one, other, same):
        return WordInContexts("crack", one, one.index("crack"), other, other.index("crack"), same)

    wall, high = ("the", "crack", "in", "the", "wall"), ("he", "was", "high", ",", "crack", ".")
    train = [pair(wall, wall, True), pair(high, high, True), pair(wall, high, False), pair(high, wall, False)]
    layers = wic(tiny_bert, train, train * 5)
    assert [layer.layer for layer in layers] == [0, 1, 2]
    assert layers[-1].accuracy == layers[-1].learned == 1
    assert layers[-1].low > 0.8
    (static,) = wic(tiny_static, train, train)
    assert static.accuracy == 0.5  # the same vector everywhere


def test_accuracy_is_that_of_cosines_by_hand(tiny_bert):
    words = [("a", "bank", "in", "spring"), ("the", "river", "bank"), ("money", "in", "the", "bank", ".")]
    pairs = [
        WordInContexts("bank", one, one.index("bank"), other, other.index("bank"), same)
        for one, other, same in [(words[0], words[1], True), (words[1], words[2], False), (words[0], words[2], True)]
    ]
    found = wic(tiny_bert, pairs[:2], pairs)
    for layer in found:
        right = 0
        for pair in pairs:
            one, other = tiny_bert.embed([pair.words_a, pair.words_b], layers=layer.layer)
            one, other = one[pair.place_a], other[pair.place_b]
            cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
            right += (cosine >= layer.threshold) == pair.same
        assert layer.accuracy == pytest.approx(right / 3)


def test_cosines_that_are_neighbours_in_32_bits_are_told_apart(tiny_bert, monkeypatch):
    below = np.nextafter(np.float32(0.6), np.float32(1))
    turned = [np.array([[1, 0], [x, 0]], np.float32) for x in (below, np.nextafter(below, np.float32(1)))]
    monkeypatch.setattr(module, "vectors", lambda *_: [np.concatenate(turned)])
    monkeypatch.setattr(module, "directions", lambda rows: rows)
    train = [WordInContexts("a", ("a",), 0, ("a",), 0, same) for same in (False, True)]
    assert wic(tiny_bert, train, [])[0].learned == 1
