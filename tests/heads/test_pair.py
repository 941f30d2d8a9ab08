import pytest
import torch

from polyseme.errors import Mistake
from polyseme.heads.classify import Classify
from polyseme.heads.regress import Regress


@pytest.fixture
def pairs():
    """The second text of a pair is the first again, or its opposite."""
    torch.manual_seed(0)
    first, targets = torch.randn(40, 4).sign(), torch.tensor([0, 1] * 20)
    second = first * (1 - 2 * targets).unsqueeze(1)
    return torch.stack([first, second], 1).flatten(0, 1), targets


def test_whether_two_texts_are_alike_is_learned(pairs, features, learn):
    words, targets = pairs
    made, head = features(words, [1] * 80), Classify(4, 2, "pair", dropout=0.0, hidden_width=16)
    learn(head, made, targets)
    assert torch.equal(head.decode(head(made), made.offsets).numbers, targets)


def test_how_alike_two_texts_are_is_learned(pairs, features, learn):
    words, targets = pairs
    made, head = features(words, [1] * 80), Regress(4, "pair", dropout=0.0, hidden_width=16)
    head.standardise(targets)
    assert learn(head, made, targets, rate=0.1)[-1] < 0.05
    assert head(made).shape == (40,)


@torch.no_grad()
def test_a_pair_is_compared_by_both_their_difference_and_their_product(features):
    made, head = features(torch.randn(6, 4), [1, 2, 0, 3]), Classify(4, 3, "pair", hidden_width=7).eval()
    a, b = made.texts[[0, 2]], made.texts[[1, 3]]
    wanted = head.model.out(head.model.hidden(torch.cat([a, b, (a - b).abs(), a * b], 1)).relu())
    assert torch.allclose(head(made), wanted, atol=1e-6)


@torch.no_grad()
def test_the_order_of_pairs_changes_no_logits(features):
    head, pooled = Classify(4, 2, "pair").eval(), torch.randn(6, 4)
    one = head(features(torch.zeros(0, 4), [0] * 6, pooled))
    other = head(features(torch.zeros(0, 4), [0] * 6, pooled[[4, 5, 0, 1, 2, 3]]))
    assert torch.allclose(one[[2, 0, 1]], other, atol=1e-6)


def test_gradients_flow_to_both_texts(features):
    made, head = (
        features(torch.randn(3, 4).requires_grad_(), [1, 2]),
        Classify(4, 2, "pair", dropout=0.0, hidden_width=32),
    )
    head.loss(head(made), torch.tensor([1]), made.offsets).backward()
    assert (made.words.grad.abs().sum(1) > 0).all()


def test_a_text_without_its_other_is_refused(features):
    with pytest.raises(Mistake, match="Found 3 texts; wanted pairs"):
        Classify(4, 2, "pair")(features(torch.randn(3, 4), [1, 1, 1]))
