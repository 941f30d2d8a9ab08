"""Rows of mean 0 and spread 1."""

import torch

from polyseme.layers.standard import Standard


def test_rows_of_any_scale_have_mean_0_and_spread_1():
    torch.manual_seed(0)
    standard, rows = Standard(3), torch.randn(64, 3) * torch.tensor([1e-3, 1.0, 1e3]) + 5
    standard.measure(rows.split(16))
    made = standard(rows)
    assert made.mean(0).abs().max() < 1e-3
    assert (made.std(0) - 1).abs().max() < 0.05
    assert torch.equal(standard(rows[:1]), made[:1])
    assert not list(standard.parameters())


def test_a_column_that_is_always_the_same_is_not_blown_up():
    standard = Standard(2)
    standard.measure([torch.tensor([[0.1, 1.0], [0.1, 3.0]])])
    assert standard(torch.tensor([[0.2, 2.0]])).abs().max() < 1
    standard.measure([])
    assert standard(torch.zeros(0, 2)).shape == (0, 2)
