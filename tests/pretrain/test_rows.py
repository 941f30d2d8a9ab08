"""Rows: every word is read and predicted once an epoch, in both directions."""

import numpy as np
import pytest

from polyseme.pretrain.rows import Rows

SENTENCES = [[10, 11, 12], [20], [], [30, 31, 32, 33, 34], [40, 41], [50, 51, 52], [60]]
DOCUMENTS = [0, 2, 4, 5, 7]


def rows(**settings):
    ids = np.array([word for sentence in SENTENCES for word in sentence], dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, SENTENCES)])
    return Rows(ids, offsets, np.array(DOCUMENTS), **{"n_rows": 1, "unroll": 4, "seed": 7, "whole": True, **settings})


def read(stream, epoch, field):
    """All rows of an epoch, one after another."""
    steps = range(epoch * stream.steps_an_epoch, (epoch + 1) * stream.steps_an_epoch)
    windows = [stream.window(step) for step in steps]
    values = np.concatenate([getattr(window, field) for window in windows])
    real = np.concatenate([window.real for window in windows])
    return [value for row in range(values.shape[1]) for value in values[real[:, row], row].tolist()]


def test_in_the_texts_own_order_every_place_is_right():
    stream = rows(shuffle="none")
    marked = [[0, *(word + 2 for word in sentence), 1] for sentence in SENTENCES]
    assert read(stream, 0, "forward") == [word for sentence in marked for word in sentence[:-1]]
    assert read(stream, 0, "forward_targets") == [word for sentence in marked for word in sentence[1:]]
    assert read(stream, 0, "backward") == [word for sentence in marked for word in sentence[:0:-1]]
    assert read(stream, 0, "backward_targets") == [word for sentence in marked for word in sentence[-2::-1]]


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
@pytest.mark.parametrize("shuffle", ["documents", "sentences", "none"])
def test_every_word_is_predicted_once_an_epoch(n_rows, shuffle):
    stream = rows(n_rows=n_rows, shuffle=shuffle)
    wanted = sorted([word + 2 for sentence in SENTENCES for word in sentence] + [1] * len(SENTENCES))
    for epoch in (0, 1):
        assert sorted(read(stream, epoch, "forward_targets")) == wanted


def test_sentences_of_a_document_stay_together():
    found = read(rows(), 0, "forward_targets")
    text = " ".join(str(value - 2) for value in found)
    assert "10 11 12 -1 20 -1" in text
    assert "50 51 52 -1 60 -1" in text


def test_epochs_differ_and_are_the_same_each_time():
    stream = rows(shuffle="sentences")
    assert read(stream, 0, "forward") != read(stream, 1, "forward")
    assert read(rows(shuffle="sentences"), 1, "forward") == read(stream, 1, "forward")


def test_training_leaves_the_remainder_of_an_epoch_out():
    stream = rows(n_rows=2, unroll=4, whole=False)
    assert (stream.n_places, stream.row_length, stream.steps_an_epoch) == (22, 11, 2)
    assert all(stream.window(step).real.all() for step in range(4))


def test_what_is_read_next_is_what_was_predicted():
    stream = rows(n_rows=2, unroll=3, whole=False)
    for step in range(2):
        window = stream.window(step)
        for read_now, predicted in zip(window.forward[1:], window.forward_targets[:-1], strict=True):
            assert ((read_now == predicted) | ((predicted == 1) & (read_now == 0))).all()
