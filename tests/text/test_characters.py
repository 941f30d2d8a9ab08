import pytest
import torch

from polyseme.errors import BadFile, Mistake
from polyseme.text.batches import take
from polyseme.text.characters import CharacterTokenizer, spell
from polyseme.text.words import to_text

TOKENIZER = CharacterTokenizer()


def encode(*texts):
    return TOKENIZER.encode([to_text(text) for text in texts])


def spelling(batch, position):
    number = batch.ids[position]
    return batch.spellings.values[batch.spellings.offsets[number] : batch.spellings.offsets[number + 1]].tolist()


def test_a_text_is_its_words_between_a_begin_and_an_end():
    batch = encode("a bc", "", "bc")
    assert batch.offsets.tolist() == [0, 4, 6, 9]
    assert batch.words.tolist() == [-1, 0, 1, -1, -1, -1, -1, 0, -1]
    assert batch.n_words.tolist() == [2, 0, 1]
    assert batch.texts.tolist() == [0, 1, 2]
    assert TOKENIZER.pieces(batch) == ["<S>", "a", "bc", "</S>", "<S>", "</S>", "<S>", "bc", "</S>"]


def test_a_spelling_is_utf8_bytes_between_two_marks_and_has_no_pads():
    batch = encode("é!")
    assert spelling(batch, 0) == [258, 256, 259]
    assert spelling(batch, 1) == [258, 0xC3, 0xA9, 259]
    assert spelling(batch, 3) == [258, 257, 259]


def test_a_word_that_comes_twice_is_spelled_once():
    batch = encode("to be or not to be", "to")
    assert len(batch.spellings.offsets) - 1 == 2 + 4
    assert batch.ids[1] == batch.ids[5] == batch.ids[9]


def test_a_long_word_is_cut_off_after_its_48th_byte_even_inside_a_character():
    long = encode(["x" + "é" * 40])
    assert len(spelling(long, 1)) == 50
    assert spelling(long, 1)[-2:] == [0xC3, 259]
    short = CharacterTokenizer(max_characters=5).encode([to_text(["abcdef"])])
    assert spelling(short, 1) == [258, *b"abc", 259]


def test_half_a_surrogate_pair_is_left_out_and_an_empty_word_has_only_its_marks():
    batch = encode(["a\ud800b", ""])
    assert spelling(batch, 1) == [258, *b"ab", 259]
    assert spelling(batch, 2) == [258, 259]


def test_a_word_that_looks_like_a_marker_is_an_ordinary_word():
    assert spelling(encode(["<S>"]), 1) == [258, *b"<S>", 259]


def test_no_texts_make_an_empty_batch():
    batch = TOKENIZER.encode([])
    assert batch.n_sequences == 0
    assert batch.offsets.tolist() == [0]


def test_a_part_of_a_batch_shows_the_same_words():
    batch = encode("one two", "two three", "three")
    assert TOKENIZER.pieces(take(batch, torch.tensor([2, 1]))) == [
        "<S>",
        "three",
        "</S>",
        "<S>",
        "two",
        "three",
        "</S>",
    ]


def test_spell_puts_the_markers_first():
    packed = spell([], 50)
    assert packed.offsets.tolist() == [0, 3, 6]


@pytest.mark.parametrize("vocabulary", [None, ("<S>", "</S>", "the", "x\u2028y", "é")])
def test_it_is_read_as_it_was_written(tmp_path, vocabulary):
    tokenizer = CharacterTokenizer(40, vocabulary)
    tokenizer.write(tmp_path)
    assert CharacterTokenizer.read(tmp_path) == tokenizer


def test_a_damaged_file_is_named(tmp_path):
    with pytest.raises(BadFile, match=r"No characters\.json"):
        CharacterTokenizer.read(tmp_path)
    (tmp_path / "characters.json").write_text('{"max_characters": "many"}')
    with pytest.raises(BadFile, match=r"characters\.json is damaged"):
        CharacterTokenizer.read(tmp_path)


def test_a_word_with_a_line_break_is_not_written_to_a_vocabulary(tmp_path):
    with pytest.raises(Mistake, match="one word a line"):
        CharacterTokenizer(vocabulary=("a\nb",)).write(tmp_path)
