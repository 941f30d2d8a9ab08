import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.lens import cka as module
from polyseme.lens.cka import Sums, cka
from polyseme.text.words import to_text

TEXTS = [to_text(text) for text in ["the crack in the wall .", "", "a bank , the river", "spring came early at night"]]


def direct(one, other):
    """With centred Gram matrices, as the paper defines it."""
    n = len(one)
    centre = np.eye(n) - 1 / n
    ours, theirs = (centre @ rows @ rows.T @ centre for rows in (one.astype(float), other.astype(float)))
    return np.trace(ours @ theirs) / np.sqrt(np.trace(ours @ ours) * np.trace(theirs @ theirs))


def test_sums_in_batches_give_what_gram_matrices_give():
    draw = np.random.default_rng(0)
    ours = [draw.standard_normal((50, width)).astype(np.float32) + 3 for width in (4, 7)]
    theirs = [
        ours[0] @ draw.standard_normal((4, 5)).astype(np.float32),
        draw.standard_normal((50, 3)).astype(np.float32),
    ]
    sums = Sums([4, 7], [5, 3])
    for part in (slice(0, 20), slice(20, 21), slice(21, 50)):
        sums.add([rows[part] for rows in ours], [rows[part] for rows in theirs])
    wanted = [[direct(one, other) for other in theirs] for one in ours]
    np.testing.assert_allclose(sums.cka(), wanted, rtol=1e-4)


def test_neither_a_turn_nor_a_scale_makes_a_difference():
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((30, 6)).astype(np.float32)
    turn, _ = np.linalg.qr(draw.standard_normal((6, 6)))
    sums = Sums([6], [6])
    sums.add([rows], [(3 * rows @ turn + 5).astype(np.float32)])
    assert sums.cka().item() == pytest.approx(1, abs=1e-4)


def test_encoders_are_compared_word_by_word_in_windows(any_encoder, tiny_bert, monkeypatch):
    whole = cka(any_encoder, tiny_bert, TEXTS)
    assert whole.shape == (len(any_encoder.encoder.widths), 3)
    strings = [text.string for text in TEXTS if text.string]
    for i in range(whole.shape[0]):
        one, other = (np.concatenate(m.embed(strings, layers=n)) for m, n in ((any_encoder, i), (tiny_bert, 1)))
        assert whole[i, 1] == pytest.approx(direct(one, other), abs=1e-4)
    monkeypatch.setattr(module, "_WINDOW", 1)
    np.testing.assert_allclose(cka(any_encoder, tiny_bert, TEXTS), whole, atol=1e-6)


def test_an_encoder_is_like_itself_and_layers_can_be_chosen(tiny_bert):
    np.testing.assert_allclose(np.diag(cka(tiny_bert, tiny_bert, TEXTS)), 1, atol=1e-5)
    assert cka(tiny_bert, tiny_bert, TEXTS, layers=[0, -1]).shape == (2, 2)
    with pytest.raises(Mistake, match="layer=9 was asked for"):
        cka(tiny_bert, tiny_bert, TEXTS, layers=[9])


def test_more_than_memory_holds_is_refused(tiny_bert, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    with pytest.raises(Mistake, match="3 layers against 3 would take"):
        cka(tiny_bert, tiny_bert, TEXTS)
