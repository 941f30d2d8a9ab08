from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from polyseme.text.windows import shares, windows


@st.composite
def long_texts(draw):
    """The words of pieces as a tokenizer gives them: rising, some words without pieces, some pieces without a word."""
    sizes = draw(st.lists(st.sampled_from([0, 1, 1, 1, 2, 3, 5, 9, 40]), min_size=0, max_size=40))
    words = [word for word, size in enumerate(sizes) for _ in range(size)]
    for place in draw(st.lists(st.integers(0, len(words)), max_size=3)):
        if place == 0 or place == len(words) or words[place - 1] != words[place]:
            words.insert(place, -1)
    room = draw(st.integers(1, 20))
    return np.array(words, np.int64), sizes, room, draw(st.integers(0, room - 1))


@given(long_texts())
def test_every_word_has_exactly_one_owner_in_order(text):
    words, sizes, room, overlap = text
    found = windows(words, len(sizes), room, overlap)
    owned = [word for window in found for word in range(window.first_word, window.first_word + window.n_words)]
    assert owned == list(range(len(sizes)))


@given(long_texts())
def test_every_piece_is_in_a_window_and_none_is_too_long(text):
    words, sizes, room, overlap = text
    found = windows(words, len(sizes), room, overlap)
    assert all(window.end - window.start <= room for window in found)
    assert {piece for window in found for piece in range(window.start, window.end)} == set(range(len(words)))
    assert all(a.end - b.start >= overlap and b.start > a.start for a, b in pairwise(found))


@given(long_texts())
def test_every_piece_has_exactly_one_owner_in_order_which_is_its_words(text):
    words, sizes, room, overlap = text
    found = windows(words, len(sizes), room, overlap)
    owned = shares(words, len(sizes), found)
    assert [piece for start, end in owned for piece in range(start, end)] == list(range(len(words)))
    for window, (start, end) in zip(found, owned, strict=True):
        assert window.start <= start <= end <= window.end
        of_words = {w for w in range(window.first_word, window.first_word + window.n_words) if 0 < sizes[w] <= room}
        assert {word for word in words[start:end].tolist() if word >= 0 and sizes[word] <= room} == of_words


@given(long_texts())
def test_a_word_that_fits_is_wholly_inside_its_owner(text):
    words, sizes, room, overlap = text
    for window in windows(words, len(sizes), room, overlap):
        for word in range(window.first_word, window.first_word + window.n_words):
            places = np.flatnonzero(words == word)
            inside = (places >= window.start) & (places < window.end)
            if sizes[word] <= room:
                assert inside.all()
            else:
                assert inside.any(), "even of a word that fits nowhere some pieces are in its owner"


@given(long_texts())
def test_the_owner_gives_most_context(text):
    words, sizes, room, overlap = text
    found = windows(words, len(sizes), room, overlap)

    def context(window, places):  # to the nearer edge; the text's own edges are none
        left = places[0] - window.start if window.start else len(words)
        right = window.end - 1 - places[-1] if window.end < len(words) else len(words)
        return min(left, right)

    for window in found:
        for word in range(window.first_word, window.first_word + window.n_words):
            places = np.flatnonzero(words == word)
            if len(places) and sizes[word] <= room:
                assert context(window, places) == max(context(other, places) for other in found)


def test_a_text_that_fits_is_one_window():
    assert windows(np.array([0, -1, 1]), 5, room=3, overlap=1) == [(0, 3, 0, 5)]


def test_windows_are_few_however_long_the_words_are():
    words = np.repeat(np.arange(50), 130)
    assert len(windows(words, 50, room=510, overlap=128)) < 40
