"""Rows of mean 0 and spread 1."""

import torch

from polyseme.layers.standard import fixed


def test_afterwards_rows_are_measured_by_all_that_was_learned_from():
    torch.manual_seed(0)
    norm, rows = fixed(3), torch.randn(64, 3) * torch.tensor([1e-3, 1.0, 1e3]) + 5
    for part in rows.split(16):
        assert norm(part).mean(0).abs().max() < 1e-2
    made = norm.eval()(rows)
    assert made.mean(0).abs().max() < 1e-2
    assert (made.std(0) - 1).abs().max() < 0.1
    assert torch.equal(norm(rows[:1]), made[:1])
    assert not list(norm.parameters())


def test_a_single_row_is_measured_by_those_before_it():
    norm = fixed(2)
    norm(torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
    before = norm.running_mean.clone()
    row = norm(torch.tensor([[1.0, 2.0]]))
    assert row.abs().max() < 1e-6
    assert torch.equal(norm.running_mean, before)
    assert norm(torch.zeros(0, 2)).shape == (0, 2)
