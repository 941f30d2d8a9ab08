import json
import random
from pathlib import Path

import pytest

from polyseme.errors import Mistake
from polyseme.text.wordpiece_files import SPECIAL
from polyseme.text.wordpiece_training import train

SENTENCES = json.loads((Path(__file__).parent.parent / "data" / "sentences.json").read_text())


def vocabulary(texts, n_pieces=600, lower_case=True, min_count=2, n_characters=1000):
    return train(texts, n_pieces, lower_case, min_count, n_characters)


def words_with_ties():
    """Words in which very many pairs of letters are equally frequent."""
    generator = random.Random(0)
    return [" ".join("".join(generator.choices("abcdefgh", k=6)) for _ in range(200)) for _ in range(5)]


def test_the_same_texts_give_the_same_vocabulary():
    first = vocabulary(words_with_ties(), n_pieces=150)
    assert all(vocabulary(words_with_ties(), n_pieces=150) == first for _ in range(5))


def test_the_order_of_the_texts_does_not_matter():
    assert vocabulary(words_with_ties(), 150) == vocabulary(words_with_ties()[::-1], 150)


def test_an_iterator_gives_what_a_list_gives():
    assert vocabulary(iter(SENTENCES)) == vocabulary(SENTENCES)


def test_special_pieces_come_first_and_numbers_have_no_gaps():
    vocab = vocabulary(SENTENCES)
    assert sorted(vocab, key=vocab.get)[:5] == list(SPECIAL.values()) == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert sorted(vocab.values()) == list(range(len(vocab)))


def test_a_vocabulary_has_the_size_asked_for_where_the_texts_allow():
    assert len(vocabulary(words_with_ties(), n_pieces=100)) == 100
    assert len(vocabulary(["one two three"], n_pieces=100)) < 100


def test_only_the_most_frequent_characters_are_kept():
    vocab = vocabulary(["aaa bbb ccc b", "é"], n_characters=2, min_count=1)
    assert {piece for piece in vocab if len(piece) == 1} == {"a", "b"}


@pytest.mark.parametrize("lower_case", [True, False])
def test_case_is_folded_or_kept(lower_case):
    vocab = vocabulary(SENTENCES, lower_case=lower_case)
    assert ("T" not in vocab) == lower_case


def test_punctuation_has_no_form_within_words():
    vocab = vocabulary(["stop. it, now", "now"], min_count=1)
    assert "." in vocab
    assert "##." not in vocab
    assert "##o" in vocab


def test_empty_texts_between_others_do_not_end_them():
    assert vocabulary([""] * 3000 + ["crack crack"]) == vocabulary(["crack crack"])


def test_half_a_surrogate_pair_is_no_hindrance():
    assert vocabulary(["crack \ud800 crack"]) == vocabulary(["crack  crack"])


def test_too_small_a_vocabulary_says_what_to_do():
    with pytest.raises(Mistake, match="Ask for more"):
        vocabulary(SENTENCES, n_pieces=50)
