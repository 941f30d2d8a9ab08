import pytest
import torch

from polyseme.layers.time_major import TimeMajor, sequences_of
from polyseme.types import mirrored

LENGTHS = [[1, 3, 2], [2, 2], [0, 4, 0, 1], [0, 0], []]


def offsets(lengths):
    return torch.tensor([0, *lengths]).cumsum(0)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_every_step_reads_the_next_row_of_the_longest_sequences(lengths):
    where = offsets(lengths)
    order = TimeMajor.of(where)
    assert sorted(order.rows.tolist()) == list(range(sum(lengths)))
    assert [lengths[sequence] for sequence in order.sequences] == sorted(lengths, reverse=True)
    for step, rows in enumerate(order.rows.split(order.sizes)):
        assert rows.tolist() == [int(where[sequence]) + step for sequence in order.sequences[: len(rows)]]
        assert len(rows) == sum(length > step for length in lengths)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_mirroring_turns_each_sequence_round_and_twice_changes_nothing(lengths):
    where, rows = offsets(lengths), torch.arange(sum(lengths))
    mirror = mirrored(where)
    assert torch.equal(mirror[mirror], rows)
    for part, turned in zip(rows.split(lengths), mirror.split(lengths), strict=True):
        assert torch.equal(part.flip(0), turned)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_each_row_knows_its_sequence(lengths):
    wanted = [number for number, length in enumerate(lengths) for _ in range(length)]
    assert sequences_of(offsets(lengths)).tolist() == wanted
