import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.lens.neighbours import Neighbours


def test_the_nearest_words_are_those_of_brute_force(tiny_static):
    neighbours = Neighbours.of(tiny_static)
    rows = np.concatenate(tiny_static.embed([[word] for word in neighbours.words]))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for word in ("crack", "bank"):
        cosines = rows @ rows[neighbours.words.index(word)]
        wanted = [place for place in np.argsort(-cosines) if neighbours.words[place] != word][:4]
        found = neighbours.nearest(word, 4)
        assert [near for near, _ in found] == [neighbours.words[place] for place in wanted]
        assert [cosine for _, cosine in found] == pytest.approx(cosines[wanted].tolist(), abs=1e-6)


def test_all_words_but_its_own_are_the_most_there_are(tiny_static):
    assert len(Neighbours.of(tiny_static).nearest("crack", 10_000)) == len(tiny_static.tokenizer.words) - 1


def test_a_word_without_a_vector_names_its_neighbour_in_spelling(tiny_static):
    with pytest.raises(Mistake, match=r"'craack' has no vector here\. Did you mean 'crack'"):
        Neighbours.of(tiny_static).nearest("craack")
