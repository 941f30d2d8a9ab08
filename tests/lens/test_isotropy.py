from itertools import combinations

import numpy as np
import pytest

from polyseme.lens.isotropy import isotropy
from polyseme.text.words import to_text

TEXTS = [
    to_text(text)
    for text in ["The crack in the wall .", "a bank , the river", "the crack grew in the wall at night"] * 2
]


def cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


def test_each_number_is_that_of_the_paper_by_hand(tiny_bert):
    for found in isotropy(tiny_bert, TEXTS):
        sentences = tiny_bert.embed([text.string for text in TEXTS], layers=found.layer)
        rows, words = np.concatenate(sentences), [word.lower() for text in TEXTS for word in text.words]
        random = np.mean([cosine(one, other) for one, other in combinations(rows, 2)])
        assert found.random == pytest.approx(random, abs=1e-5)
        often = [word for word in set(words) if words.count(word) >= 5]
        own = [
            np.mean(
                [cosine(a, b) for a, b in combinations([r for r, w in zip(rows, words, strict=True) if w == word], 2)]
            )
            for word in often
        ]
        assert found.self_similarity == pytest.approx(np.mean(own), abs=1e-5)
        within = [np.mean([cosine(row, one.mean(0)) for row in one]) for one in sentences]
        assert found.intra_sentence == pytest.approx(np.mean(within), abs=1e-5)
        assert found.self_adjusted == pytest.approx(found.self_similarity - found.random)


def test_any_whole_number_is_a_seed(tiny_static):
    assert isotropy(tiny_static, TEXTS, seed=-1) == isotropy(tiny_static, TEXTS, seed=-1)


def test_a_static_word_is_always_like_itself(tiny_static):
    (found,) = isotropy(tiny_static, TEXTS)
    assert found.self_similarity == pytest.approx(1)


def test_words_without_a_vector_count_nowhere(tiny_static):
    unknown = [to_text(f"{text.string} zebra") for text in TEXTS]
    (one,), (other,) = isotropy(tiny_static, TEXTS), isotropy(tiny_static, [*unknown, to_text("zebra zebra")])
    assert other.intra_sentence == pytest.approx(one.intra_sentence, abs=1e-6)
    assert other.self_similarity == pytest.approx(one.self_similarity, abs=1e-6)
