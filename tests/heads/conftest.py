"""What the tests of heads share: toy features, and a few steps of learning."""

import pytest
import torch

from polyseme.heads.head import Features


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


@pytest.fixture
def features():
    def make(words, lengths, pooled=None):
        return Features(words, torch.tensor([0, *lengths]).cumsum(0), pooled)

    return make


@pytest.fixture
def learn():
    """Plain gradient descent; gives the losses."""

    def run(head, features, targets, n_steps=60, rate=0.5):
        losses = []
        for _ in range(n_steps):
            loss = head.loss(head(features), targets, features.offsets)
            gradients = torch.autograd.grad(loss, list(head.parameters()))
            with torch.no_grad():
                for parameter, gradient in zip(head.parameters(), gradients, strict=True):
                    parameter -= rate * gradient
            losses.append(loss.item())
        head.eval()
        return losses

    return run


@pytest.fixture
def alone():
    """The features of each text by itself."""

    def split(features):
        lengths = features.offsets.diff().tolist()
        for number, words in enumerate(features.words.split(lengths)):
            pooled = None if features.pooled is None else features.pooled[number : number + 1]
            yield Features(words, torch.tensor([0, len(words)]), pooled)

    return split
