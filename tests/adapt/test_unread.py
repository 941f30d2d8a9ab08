"""What is said of words and windows that an encoder does not read."""

import pytest
from toys import reviews

from polyseme.adapt.settings import settings
from polyseme.adapt.unread import unread


def test_known_words_and_short_texts_are_nothing_to_speak_of(any_encoder):
    assert unread(any_encoder, reviews().inputs, settings(tune="full"), "text") == []


def test_unknown_words_are_counted_and_the_most_frequent_named(tiny_static):
    texts = ["the film was qwerty", ["qwerty", "film"], ("qwerty", "the movie was good and zzz")]
    (said,) = unread(tiny_static, texts, settings(), "text")
    assert said.startswith("The encoder knows ")
    assert "; not qwerty, " in said


def test_characters_spell_every_word(tiny_elmo):
    assert unread(tiny_elmo, ["qwerty zzz"], settings(), "text") == []


@pytest.mark.parametrize("tune, chosen, n_said", [("full", None, 1), ("full", 4, 0), ("frozen", None, 0)])
def test_texts_of_which_only_a_window_is_read_are_said(tiny_bert, tune, chosen, n_said):
    texts = ["the film was good " * 60, "the film was good"]
    said = unread(tiny_bert, texts, settings(tune=tune, most_windows=chosen), "text")
    assert [line for line in said if "1 of 2 texts are longer" in line] == said[:n_said]
    assert unread(tiny_bert, texts, settings(tune=tune), "word") == []
