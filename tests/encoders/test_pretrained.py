"""What embed() gives, whatever the order, the level and the layers."""

import numpy as np
import pytest
import torch

import polyseme
from polyseme.encoders import Pretrained
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.errors import Mistake
from polyseme.text.bags import BagTokenizer


@pytest.fixture(scope="module")
def tiny() -> Pretrained:
    torch.manual_seed(0)
    words = ("crack", "the", "wall", "in", "a", ".")
    return Pretrained(BagTokenizer(words, fold_case=True), StaticEncoder(StaticConfig(n_rows=6, width=4)))


def test_there_is_a_row_a_word(tiny):
    vectors = tiny.embed(["A crack in the wall.", "", "wall"])
    assert [array.shape for array in vectors] == [(6, 4), (0, 4), (1, 4)]
    assert vectors[0].dtype == np.float32
    assert np.array_equal(vectors[0][4], vectors[2][0])


def test_an_unknown_word_has_a_vector_of_zeros(tiny):
    assert not tiny.embed([["zyzzyva"]])[0].any()


def test_words_may_come_split_already(tiny):
    assert np.array_equal(tiny.embed([["a", "crack"]])[0], tiny.embed(["a crack"])[0])


def test_a_texts_vector_is_the_mean_of_its_words(tiny):
    texts = ["the wall", "", "crack"]
    pooled = tiny.embed(texts, level="text")
    assert pooled.shape == (3, 4)
    np.testing.assert_allclose(pooled[0], tiny.embed(texts)[0].mean(0), rtol=1e-6)
    assert not pooled[1].any()


def test_all_layers_have_an_axis_of_their_own(tiny):
    assert tiny.embed(["the wall"], layers="all")[0].shape == (1, 2, 4)
    assert tiny.embed(["the wall", "a"], layers="all", level="text").shape == (1, 2, 4)


def test_no_texts_give_no_vectors(tiny):
    assert tiny.embed([]) == []
    assert tiny.embed([], level="text").shape == (0, 4)
    assert tiny.embed([], level="text", layers="all").shape == (1, 0, 4)


@pytest.mark.parametrize(
    ("name", "layers", "directions", "width"),
    [
        ("bert-starter", "last4", "both", 1024),
        ("elmo-starter", "top", "forward", 128),
        ("ulmfit-starter", 0, "both", 400),
    ],
)
def test_none_is_as_wide_as_one(name, layers, directions, width):
    model = polyseme.load(name)
    assert model.embed(["the wall"], layers, "text", directions).shape == (1, width)
    assert model.embed([], layers, "text", directions).shape == (0, width)


def test_texts_may_be_a_generator_longer_than_a_window(tiny):
    texts = ["crack " * (i % 7) for i in range(5000)]
    vectors = tiny.embed(text for text in texts)
    assert [len(array) for array in vectors] == [i % 7 for i in range(5000)]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"layers": 3}, "has one layer"),
        ({"layers": "botom"}, "'botom' is not known"),
        ({"level": "sentence"}, "'sentence' is not known"),
        ({"level": "piece"}, "no pieces below the word"),
    ],
)
def test_a_wrong_choice_is_told(tiny, options, message):
    with pytest.raises(Mistake, match=message):
        tiny.embed(["a"], **options)


def test_one_string_is_not_taken_for_a_list_of_letters(tiny):
    with pytest.raises(Mistake, match=r"embed\(\[text\]\)"):
        tiny.embed("a crack")


def test_a_word_that_is_no_string_is_told(tiny):
    with pytest.raises(Mistake, match="found 3"):
        tiny.embed([["a", 3]])


def test_embedding_leaves_the_encoder_in_the_mode_it_was_in(tiny):
    tiny.encoder.train()
    tiny.embed(["a"])
    assert tiny.encoder.training


def test_it_is_shown_in_a_line(tiny):
    assert len(repr(tiny)) < 100
    assert "static" in repr(tiny)
