"""Streams: rows go on where they stopped, in windows whose lengths are arithmetic."""

import numpy as np
import pytest

from polyseme.pretrain.stream import HeldOut, Stream, window_lengths
from polyseme.text.marked_shards import Pieces

BOS = 2


def pieces(n_documents=40, seed=0):
    """Documents of xxbos and numbers that never come twice."""
    sizes = np.random.default_rng(seed).integers(1, 30, n_documents)
    ends = sizes.cumsum()
    documents = [np.array([BOS, *range(100 + end - size, 100 + end)]) for size, end in zip(sizes, ends, strict=True)]
    offsets = np.concatenate([[0], (sizes + 1).cumsum()])
    return Pieces(np.concatenate(documents).astype(np.uint32), offsets)


def documents_of(text):
    return [tuple(text.ids[a:b].tolist()) for a, b in zip(text.documents, text.documents[1:], strict=False)]


def split(ids):
    """What lies between one xxbos and the next, the ends left out, which are cut."""
    inner = " ".join(map(str, ids)).split(f" {BOS} ")[1:-1]
    return [(BOS, *map(int, part.split())) for part in inner]


def test_lengths_are_as_in_the_paper():
    lengths = window_lengths(70, 200_000, seed=1, epoch=0)
    half = lengths < 52
    assert half.mean() == pytest.approx(0.05, abs=0.003)
    assert lengths[~half].mean() == pytest.approx(69.5, abs=0.1)  # as int() cuts
    assert lengths[half].mean() == pytest.approx(34.5, abs=0.3)
    assert lengths[~half].std() == pytest.approx(5, abs=0.1)
    assert window_lengths(6, 10_000, seed=1, epoch=0).min() == 5


def test_lengths_are_a_function_of_seed_and_epoch():
    first = window_lengths(70, 50, 1, 0)
    assert np.array_equal(first, window_lengths(70, 50, 1, 0))
    assert not np.array_equal(first, window_lengths(70, 50, 1, 1))
    assert not np.array_equal(first, window_lengths(70, 50, 2, 0))


def test_targets_of_a_step_end_where_the_inputs_of_the_next_begin():
    stream = Stream(pieces(), n_rows=3, bptt=10, seed=5)
    for step in range(stream.steps_an_epoch - 1):
        now, then = stream.window(step), stream.window(step + 1)
        assert np.array_equal(now.targets[:, -1], then.inputs[:, 0])
        assert np.array_equal(now.inputs[:, 1:], now.targets[:, :-1])
        assert now.inputs.shape == (3, stream.length(step))


def test_any_step_can_be_the_first():
    whole = Stream(pieces(), 3, 10, seed=5)
    windows = [whole.window(step) for step in range(2 * whole.steps_an_epoch)]
    for step in (whole.steps_an_epoch + 1, 0, 3):
        again = Stream(pieces(), 3, 10, seed=5).window(step)
        assert np.array_equal(again.inputs, windows[step].inputs)


def test_rows_are_the_epochs_documents_one_after_another():
    text = pieces()
    stream = Stream(text, n_rows=1, bptt=10, seed=5)
    orders = []
    for epoch in (0, 1):
        steps = range(epoch * stream.steps_an_epoch, (epoch + 1) * stream.steps_an_epoch)
        found = split(np.concatenate([stream.window(step).inputs[0] for step in steps]).tolist())
        assert len(found) > 25
        assert set(found) <= set(documents_of(text))
        orders.append(found)
    assert orders[0] != orders[1]


def test_an_epoch_reads_nearly_every_place_once():
    text = pieces(400)
    stream = Stream(text, n_rows=4, bptt=10, seed=5)
    read = np.concatenate([stream.window(step).inputs.ravel() for step in range(stream.steps_an_epoch)])
    words = read[read != BOS]
    n_words = int((text.ids != BOS).sum())
    assert len(np.unique(words)) > 0.93 * n_words
    assert len(words) - len(np.unique(words)) < 0.05 * n_words


def test_backwards_each_document_is_read_from_its_end():
    text = pieces()
    ahead, back = (Stream(text, 1, 10, seed=5, backward=backward) for backward in (False, True))
    forward = np.concatenate([ahead.window(step).inputs[0] for step in range(3)]).tolist()
    backward = np.concatenate([back.window(step).inputs[0] for step in range(3)]).tolist()
    first = next(document for document in documents_of(text) if list(document) == forward[: len(document)])
    assert backward[: len(first)] == list(first[::-1])
    assert back.length(1) == ahead.length(1)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
@pytest.mark.parametrize("backward", [False, True])
def test_held_out_text_is_predicted_once_from_the_second_piece_on(n_rows, backward):
    text = pieces(9)
    held_out = HeldOut(text, n_rows, 8, backward)
    windows = [held_out.window(step) for step in range(held_out.n_steps)]
    real = np.concatenate([window.real for window in windows], 1)
    targets = np.concatenate([window.targets for window in windows], 1)
    inputs = np.concatenate([window.inputs for window in windows], 1)
    whole = [piece for document in documents_of(text) for piece in (document[::-1] if backward else document)]
    assert targets[real].tolist() == whole[1:]
    assert inputs[real].tolist() == whole[:-1]
