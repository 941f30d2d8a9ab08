import json
from pathlib import Path

import pytest

from polyseme.text.marks import SPECIAL, marked_pieces, vocabulary
from polyseme.text.words import to_text

PIECES = json.loads(
    (Path(__file__).parent.parent / "formats" / "data" / "fastai_tiny" / "pieces.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("word", "pieces"), PIECES["words"])
def test_a_word_has_the_pieces_that_fastai_gives_it(word, pieces):
    assert marked_pieces(word) == pieces


@pytest.mark.parametrize(("text", "pieces"), PIECES["texts"])
def test_a_text_has_the_pieces_that_fastai_gives_it(text, pieces):
    assert ["xxbos", *[piece for word in to_text(text).words for piece in marked_pieces(word)]] == pieces


def test_a_quoted_word_is_marked_as_in_the_text_the_released_models_learned_from():
    assert [piece for word in to_text('"The').words for piece in marked_pieces(word)] == ['"', "xxmaj", "the"]


def test_repeated_words_and_marks_stay_words_of_their_own():
    assert [marked_pieces(word) for word in to_text("very very very !!!").words] == [["very"]] * 3 + [["!"]] * 3


def test_a_word_of_white_space_has_no_pieces():
    assert marked_pieces(" ") == marked_pieces("") == []


def test_a_vocabulary_begins_with_the_special_words_and_falls_in_frequency():
    texts = [to_text("b a The the THE c c xxbos"), to_text("a")]
    assert vocabulary(texts, min_count=2) == [*SPECIAL, "the", "a", "c"]


def test_a_vocabulary_is_no_larger_than_asked_for():
    assert vocabulary([to_text("a a b c")], max_words=len(SPECIAL) + 1, min_count=1) == [*SPECIAL, "a"]
