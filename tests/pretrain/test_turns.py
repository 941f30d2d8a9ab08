"""What is read at a step is arithmetic."""

import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.pretrain.turns import Phases, Turns


def turns(pairs: bool = True, n_a_step: int = 8, length: int = 64, seed: int = 1) -> Turns:
    draw = np.random.default_rng(0)
    documents = np.append(0, draw.integers(1, 60, 100).cumsum())
    sentences = np.append(0, draw.integers(1, 40, documents[-1]).cumsum())
    return Turns(sentences, documents, length, n_a_step, pairs, 0.1, seed)


def rows(sequences):
    return list(zip(sequences.first, sequences.n_first, sequences.second, sequences.n_second, strict=True))


@pytest.mark.parametrize("pairs", [True, False])
def test_any_step_can_be_the_first(pairs):
    one = turns(pairs)
    in_order = [rows(one.step(number)) for number in range(2 * one.steps_an_epoch)]
    for number in (2 * one.steps_an_epoch - 1, 7, 0, one.steps_an_epoch):
        assert rows(turns(pairs).step(number)) == in_order[number]


@pytest.mark.parametrize("pairs", [True, False])
def test_an_epoch_reads_each_sequence_once_but_a_remainder(pairs):
    one = turns(pairs)
    read = [row for number in range(one.steps_an_epoch) for row in rows(one.step(number))]
    assert len(set(read)) == len(read)
    assert set(read) <= set(rows(one.epoch(0)))
    assert len(one.epoch(0)) - len(read) < 8


def test_epochs_and_seeds_are_cut_anew():
    one = turns()
    assert set(rows(one.epoch(0))) != set(rows(one.epoch(1)))
    assert set(rows(one.epoch(0))) != set(rows(turns(seed=2).epoch(0)))


def test_long_sequences_come_last():
    short, long = turns(), turns(length=256, n_a_step=2, seed=5)
    phases = Phases(short, long, 90)
    assert rows(phases.step(89)) == rows(short.step(89))
    assert rows(phases.step(90)) == rows(long.step(0))
    assert rows(phases.step(95)) == rows(long.step(5))
    assert max(phases.step(95).n_pieces) > 64
    assert rows(Phases(short, None, 90).step(90)) == rows(short.step(90))


def test_too_little_text_is_told():
    with pytest.raises(
        Mistake, match=r"sequences of up to 64 pieces; a step wants 100000\..*--set positions=… length=…"
    ):
        _ = turns(n_a_step=100_000).steps_an_epoch
