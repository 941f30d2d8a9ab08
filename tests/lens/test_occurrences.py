import numpy as np
import pytest

from polyseme.lens.occurrences import Occurrences
from polyseme.text.mentions import mentions

SENTENCES = ["the crack in the wall", "a crack at night", "he was high , crack ."]


def test_a_static_vector_is_the_same_everywhere_and_others_are_not(any_encoder):
    cosines = Occurrences.of(any_encoder, mentions(SENTENCES, "crack")).cosines()
    assert len(cosines) == len(any_encoder.encoder.widths)
    for rows in cosines:
        np.testing.assert_allclose(np.diag(rows), 1, atol=1e-5)
        np.testing.assert_allclose(rows, rows.T, atol=1e-6)
    if any_encoder.encoder.family == "static":
        np.testing.assert_allclose(cosines[0], 1, atol=1e-6)
    else:
        assert cosines[-1].min() < 0.999


def test_the_nearest_are_those_of_brute_force_without_the_sentence_itself(tiny_bert):
    corpus = mentions(
        [f"{word} crack in the {other}" for word in ("the", "a", "red") for other in ("wall", "bank")], "crack"
    )
    asked = mentions([corpus[2].text.string, "he was high , crack ."], "crack")
    there, here = Occurrences.of(tiny_bert, corpus), Occurrences.of(tiny_bert, asked)
    found = there.nearest(here, layer=1, n=3)
    vectors = [tiny_bert.embed([one.text.string], layers=1)[0][one.place] for one in (*corpus, *asked)]
    for number, near in enumerate(found):
        own = vectors[len(corpus) + number]
        cosines = {
            one.text.string: own @ vector / np.linalg.norm(own) / np.linalg.norm(vector)
            for one, vector in zip(corpus, vectors, strict=False)
            if one.text.string != asked[number].text.string
        }
        wanted = sorted(cosines, key=lambda text: -cosines[text])[:3]
        assert [mention.text.string for mention, _ in near] == wanted
        assert [cosine for _, cosine in near] == pytest.approx([cosines[text] for text in wanted], abs=1e-5)
