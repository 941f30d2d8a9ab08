from itertools import pairwise

import numpy as np
import pytest

from polyseme.lens import in_context
from polyseme.lens.in_context import Span, directions, stream, vectors, words_of
from polyseme.text.words import to_text

TEXTS = ["the crack in the wall .", ["a", "high", "bank"], "it was", "a river , a bank at night in spring , early ."]
SPANS = [Span(3, 1, 2), Span(0, 1, 2), Span(3, 0, 3), Span(1, 2, 3), Span(0, 4, 6)]


def test_the_vectors_of_spans_are_those_of_embed(any_encoder):
    found = vectors(any_encoder, TEXTS, SPANS)
    assert [layer.shape for layer in found] == [(5, width) for width in any_encoder.encoder.widths]
    for number, layer in enumerate(found):
        words = any_encoder.embed(TEXTS, layers=number)
        wanted = [words[span.text][span.start : span.end].mean(0) for span in SPANS]
        np.testing.assert_allclose(layer, wanted, atol=1e-5)


def test_neither_windows_nor_batches_change_a_vector(any_encoder, monkeypatch):
    wanted = vectors(any_encoder, TEXTS, SPANS)
    monkeypatch.setattr(in_context, "_WINDOW", 2)
    monkeypatch.setattr(in_context, "_IN_MEMORY", 1)
    monkeypatch.setattr(type(any_encoder.encoder), "budget", property(lambda self: 8))
    for one, other in zip(wanted, vectors(any_encoder, TEXTS, SPANS), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_the_spans_of_a_text_come_together_and_each_span_once(tiny_bert, monkeypatch):
    monkeypatch.setattr(type(tiny_bert.encoder), "budget", property(lambda self: 12))
    texts = [to_text(text) for text in TEXTS]
    spans, told = words_of(texts), []
    seen = [some.numbers.tolist() for some in stream(tiny_bert, texts, spans, lambda *how_far: told.append(how_far))]
    assert sorted(number for part in seen for number in part) == list(range(len(spans)))
    for part in seen:
        of_text = [spans[number].text for number in part]
        assert of_text == sorted(of_text)
        assert sum(one != other for one, other in pairwise(of_text)) == len(set(of_text)) - 1
    assert told[-1] == (len(spans), len(spans))


def test_a_text_longer_than_the_window_has_all_its_words(tiny_bert):
    long = " ".join(["the crack in the wall"] * 30)
    (top,) = vectors(tiny_bert, [long], [Span(0, 148, 149)])[-1]
    np.testing.assert_allclose(top, tiny_bert.embed([long])[0][148], atol=1e-5)


def test_a_span_behind_the_text_is_our_mistake(tiny_bert):
    with pytest.raises(AssertionError):
        vectors(tiny_bert, ["the wall"], [Span(0, 1, 3)])


def test_no_direction_is_made_of_nothing():
    np.testing.assert_allclose(directions(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]], atol=1e-7)
