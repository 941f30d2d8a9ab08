import pytest
import torch

from polyseme.layers import pool
from polyseme.types import Batch, Encoding

LENGTHS = [[3, 1, 2], [0, 4, 0], [2, 2], [0], []]


def offsets(lengths):
    return torch.tensor([0, *lengths]).cumsum(0)


def one(part):
    """The three poolings of one sequence, by hand."""
    if not len(part):
        return torch.zeros(3 * part.shape[1], dtype=part.dtype)
    return torch.cat([part[-1], part.max(0).values, part.sum(0) / len(part)])


@pytest.mark.parametrize("lengths", LENGTHS)
def test_concat_is_the_last_the_highest_and_the_mean_of_each_sequence(lengths):
    torch.manual_seed(0)
    vectors = torch.randn(sum(lengths), 5, dtype=torch.double) - 3  # so that zeros would be the highest
    found = pool.concat(vectors, offsets(lengths))
    assert found.shape == (len(lengths), 15)
    for row, part in zip(found, vectors.split(lengths), strict=True):
        assert torch.allclose(row, one(part), atol=1e-12)


@pytest.mark.parametrize("name", ["last", "maximum", "mean", "concat"])
def test_gradients_are_those_of_finite_differences(name):
    torch.manual_seed(0)
    vectors = torch.randn(7, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda rows: getattr(pool, name)(rows, offsets([4, 0, 1, 2])), vectors)


def test_rows_that_are_equally_high_share_the_gradient():
    vectors = torch.tensor([[2.0], [1.0], [2.0]], requires_grad=True)
    pool.maximum(vectors, offsets([3])).sum().backward()
    assert vectors.grad.flatten().tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_logsumexp_is_that_of_torch_for_each_sequence_however_large(lengths):
    torch.manual_seed(0)
    vectors = 1000 * torch.randn(sum(lengths), 3)
    found = pool.logsumexp(vectors, offsets(lengths))
    for row, part in zip(found, vectors.split(lengths), strict=True):
        assert torch.allclose(row, part.logsumexp(0)) if len(part) else (row == -torch.inf).all()


def test_gradients_of_logsumexp_are_those_of_finite_differences():
    vectors = torch.randn(6, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda rows: pool.logsumexp(rows, offsets([4, 2])), vectors)


def test_as_many_words_as_pieces_need_not_be_the_pieces():
    batch = Batch(
        torch.tensor([0, 1]), torch.tensor([0, 2]), torch.tensor([0, 0]), torch.tensor([2]), torch.tensor([0])
    )
    found = pool.to_words(Encoding((torch.tensor([[1.0], [3.0]]),), batch.offsets), batch)
    assert found.layers[0].tolist() == [[2.0], [0.0]]  # one word of two pieces, one of none
