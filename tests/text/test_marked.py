import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from polyseme.errors import BadFile, Mistake
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import SPECIAL, UNK, marked_pieces
from polyseme.text.words import to_text

WORDS = [*SPECIAL, "the", "film", "was", "great", "s", "4", "o", "."]


@pytest.fixture
def tokenizer():
    return MarkedWords(WORDS)


def test_every_piece_knows_its_word_and_xxbos_has_none(tokenizer):
    batch = tokenizer.encode([to_text("The film was soooo GREAT.")])
    assert tokenizer.pieces(batch) == [
        "xxbos",
        "xxmaj",
        "the",
        "film",
        "was",
        "s",
        "xxrep",
        "4",
        "o",
        "xxup",
        "great",
        ".",
    ]
    assert batch.words.tolist() == [-1, 0, 0, 1, 2, 3, 3, 3, 3, 4, 4, 5]
    assert batch.n_words.tolist() == [6]


def test_an_unknown_word_is_xxunk(tokenizer):
    assert tokenizer.pieces(tokenizer.encode([to_text("The zebra")])) == ["xxbos", "xxmaj", "the", UNK]


def test_texts_are_packed_in_order(tokenizer):
    batch = tokenizer.encode([to_text("the film"), to_text(""), to_text("Great")])
    assert batch.offsets.tolist() == [0, 3, 4, 7]
    assert batch.texts.tolist() == [0, 1, 2]
    assert batch.n_words.tolist() == [2, 0, 1]


def test_no_texts_are_an_empty_batch(tokenizer):
    batch = tokenizer.encode([])
    assert batch.n_sequences == 0
    assert len(batch.ids) == 0


def test_reversed_pieces_keep_their_words(tokenizer):
    texts = [to_text("The film was GREAT ."), to_text("the")]
    ahead, back = tokenizer.encode(texts), MarkedWords(WORDS, reverse=True).encode(texts)
    for start, end in zip(ahead.offsets[:-1], ahead.offsets[1:], strict=True):
        assert torch.equal(back.ids[start:end], ahead.ids[start:end].flip(0))
        assert torch.equal(back.words[start:end], ahead.words[start:end].flip(0))
    assert torch.equal(back.offsets, ahead.offsets)


def test_a_word_is_worked_out_once_in_a_call(tokenizer, monkeypatch):
    seen = []
    monkeypatch.setattr("polyseme.text.marked.marked_pieces", lambda word: seen.append(word) or marked_pieces(word))
    tokenizer.encode([to_text("the film the film"), to_text("the film")])
    assert sorted(seen) == ["film", "the"]


@settings(deadline=None)  # the first text with letters past ASCII builds an expression
@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_text_gives_pieces_that_rise_with_its_words(strings):
    texts = [to_text(string) for string in strings]
    batch = MarkedWords(WORDS).encode(texts)
    for number, text in enumerate(texts):
        words = batch.words[batch.offsets[number] : batch.offsets[number + 1]].tolist()
        assert words == sorted(words)
        assert words[0] == -1
        assert set(words[1:]) == set(range(len(text.spans)))


@pytest.mark.parametrize("reverse", [False, True])
def test_what_is_written_is_read_again(tmp_path, reverse):
    words = [*WORDS, "\n", "a\r\nb", "\r", "\u2028", " ", "naïve", "\ud800", "xxfake", "xxfake"]
    MarkedWords(words, reverse).write(tmp_path)
    found = MarkedWords.read(tmp_path)
    assert found.words == tuple(words)
    assert found.reverse == reverse


def test_a_vocabulary_from_elsewhere_needs_no_settings(tmp_path):
    (tmp_path / "vocab.txt").write_bytes("\r\n".join(WORDS).encode())
    assert MarkedWords.read(tmp_path).words == tuple(WORDS)


def test_words_that_only_fill_up_are_no_pieces():
    assert "xxfake" not in MarkedWords([*WORDS, "xxfake", "xxfake"]).ids


def test_a_word_twice_is_refused():
    with pytest.raises(Mistake, match="'film' twice, as 10 and 17"):
        MarkedWords([*WORDS, "film"])


def test_a_vocabulary_without_the_marks_is_refused():
    with pytest.raises(Mistake, match="lacks xxup, xxmaj"):
        MarkedWords([word for word in WORDS if word not in ("xxup", "xxmaj")])


def test_a_missing_vocabulary_is_named(tmp_path):
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(BadFile, match=r"No vocab\.txt in .* Found: model\.safetensors"):
        MarkedWords.read(tmp_path)


@pytest.mark.parametrize("content", ["no json", '{"odd_words": {"99": "x"}}', '{"odd_words": {"-1": "x"}}'])
def test_wrong_settings_are_refused(tmp_path, tokenizer, content):
    tokenizer.write(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(content)
    with pytest.raises(BadFile, match="tokenizer_config"):
        MarkedWords.read(tmp_path)
