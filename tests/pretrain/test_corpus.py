"""What is held out of a corpus."""

import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.pretrain.corpus import first_held_out


def offsets(n_documents: int, n_words: int = 10):
    """Documents of one sentence each."""
    return np.arange(n_documents + 1) * n_words, np.arange(n_documents + 1)


def test_a_hundredth_is_held_out_and_at_least_as_many_documents_as_are_wanted():
    assert first_held_out(*offsets(1000)) == 990
    assert first_held_out(*offsets(50)) == 49
    assert first_held_out(*offsets(50), least=2) == 48
    assert first_held_out(*offsets(2)) == 1
    assert first_held_out(*offsets(4), least=2) == 2


def test_no_more_than_a_hundred_thousand_words_are_held_out():
    assert first_held_out(*offsets(1000, 50_000)) == 998
    assert first_held_out(*offsets(1000, 1_000_000)) == 999
    assert first_held_out(*offsets(1000, 1_000_000), least=2) == 998


def test_too_few_documents_are_told():
    with pytest.raises(Mistake, match="Documents in the corpus: 1, too few"):
        first_held_out(*offsets(1))
    with pytest.raises(Mistake, match="Documents in the corpus: 3, too few"):
        first_held_out(*offsets(3), least=2)
