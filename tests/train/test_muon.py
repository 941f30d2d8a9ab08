"""Muon: orthogonal steps for matrices between layers, AdamW's for all else."""

import pytest
import torch
from torch import nn

from polyseme.errors import Mistake
from polyseme.train import optim
from polyseme.train.muon import SPREAD, between, orthogonal


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.wide, self.narrow = nn.Embedding(50, 32), nn.Linear(32, 96), nn.Linear(96, 32)
        self.scores = nn.Linear(32, 2)

    def forward(self, ids):
        return self.scores(self.narrow(self.wide(self.words(ids)).relu()))


def learned(name, n_steps=3, before=None, **settings):
    torch.manual_seed(0)
    model = Model()
    optimizer = optim.make(name, model, 0.01, **settings)
    if before:
        model.load_state_dict(before[0])
        optim.load_state_tensors(optimizer, before[1])
    for _ in range(n_steps):
        model(torch.arange(50)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, optimizer


@pytest.mark.parametrize("shape", [(64, 64), (192, 64), (64, 256)])
def test_steps_are_orthogonal_square_by_square_and_of_one_spread(shape):
    torch.manual_seed(0)
    matrix = torch.randn(shape) @ torch.diag(torch.logspace(0, 1, shape[1]))
    (turned,) = orthogonal([matrix])
    side = min(shape)
    squares = turned.split(side, 0 if shape[0] >= shape[1] else 1)
    originals = matrix.split(side, 0 if shape[0] >= shape[1] else 1)
    for square, original in zip(squares, originals, strict=True):
        left, _, right = torch.linalg.svd(original)
        nearest = left @ right * square.norm() / side**0.5
        assert torch.cosine_similarity(square.flatten(), nearest.flatten(), 0) > 0.95
        values = torch.linalg.svdvals(square)
        assert values[0] / values[side // 2] < 2
    assert float(turned.square().mean().sqrt()) == pytest.approx(SPREAD, rel=0.3)


def test_what_lies_between_layers_is_turned_and_all_else_learns_as_with_adamw():
    (model, _), (other, _) = learned("muon", 1), learned("adamw", 1)
    assert between(model) == {model.wide.weight, model.narrow.weight}
    for name, tensor in model.state_dict().items():
        same = torch.equal(tensor, other.state_dict()[name])
        assert same == (name not in ("wide.weight", "narrow.weight")), name


def test_weights_decay_with_the_rate():
    plain, decayed = learned("muon", 1)[0], learned("muon", 1, weight_decay=0.5)[0]
    began = learned("muon", 0)[0].wide.weight
    assert torch.allclose(plain.wide.weight - decayed.wide.weight, 0.01 * 0.5 * began, atol=1e-6)


def test_what_it_remembers_goes_on_to_the_same_weights():
    half, optimizer = learned("muon", 2)
    tensors = optim.state_tensors(optimizer)
    again = learned("muon", 2, before=(half.state_dict(), tensors))[0]
    whole = learned("muon", 4)[0]
    assert all(torch.equal(tensor, whole.state_dict()[name]) for name, tensor in again.state_dict().items())


def test_a_model_without_matrices_between_layers_is_refused():
    with pytest.raises(Mistake, match=r"none between its layers\. Use 'adamw'"):
        optim.make("muon", nn.LSTM(32, 32), 0.1)
