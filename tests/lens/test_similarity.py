import numpy as np
import pytest
from scipy.stats import spearmanr

from polyseme.lens.similarity import similarity
from polyseme.tasks.word_pairs import WordPair

PAIRS = [
    WordPair("crack", "wall", 5),
    WordPair("bank", "river", 7),
    WordPair("red", "blue", 9),
    WordPair("the", "film", 1),
]


def test_the_correlation_is_scipys(any_encoder):
    for found in similarity(any_encoder, PAIRS):
        cosines = []
        for pair in PAIRS:
            one, other = (any_encoder.embed([[word]], layers=found.layer)[0][0] for word in (pair.one, pair.other))
            cosines.append(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
        assert found.spearman == pytest.approx(spearmanr(cosines, [pair.score for pair in PAIRS]).statistic)
        assert found.covered == 1


def test_pairs_with_an_unknown_word_are_left_out_and_counted(tiny_static):
    (found,) = similarity(tiny_static, [*PAIRS, WordPair("zebra", "crack", 9)])
    (without,) = similarity(tiny_static, PAIRS)
    assert found.spearman == without.spearman
    assert found.covered == 0.8
