import pytest
import torch

from polyseme.heads.classify import Classify
from polyseme.heads.head import Features

MODELS = ["linear", "ulmfit", "bilstm"]
LENGTHS = [3, 1, 5, 2, 4, 2, 3, 6]


@pytest.fixture
def toy(features):
    """Texts of class 1 have one word that is high in the first column."""
    torch.manual_seed(0)
    words, targets = torch.randn(sum(LENGTHS), 4) * 0.3, torch.tensor([0, 1] * 4)
    made = features(words, LENGTHS)
    words[made.offsets[:-1][targets == 1], 0] += 8
    return made, targets


@pytest.mark.parametrize("model", MODELS)
def test_a_separable_problem_is_learned(model, toy, learn):
    made, targets = toy
    head = Classify(4, 2, model, dropout=0.0, hidden_width=8)
    losses = learn(head, made, targets)
    assert losses[-1] < 0.3 * losses[0]
    classes = head.decode(head(made), made.offsets)
    assert torch.equal(classes.numbers, targets)
    assert torch.allclose(classes.probabilities.sum(1), torch.ones(8))
    assert torch.equal(classes.probabilities.argmax(1), targets)


@pytest.mark.parametrize("model", MODELS)
@torch.no_grad()
def test_packing_does_not_change_logits(model, toy, alone):
    torch.manual_seed(1)
    made, _ = toy
    head = Classify(4, 3, model, dropout=0.5).eval()
    assert torch.allclose(head(made), torch.cat([head(one) for one in alone(made)]), atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_gradients_flow_to_all_weights_and_to_the_words(model, toy):
    made, targets = toy
    made.words.requires_grad_()
    head = Classify(4, 2, model, dropout=0.0)
    head.loss(head(made), targets, made.offsets).backward()
    assert made.words.grad.abs().sum() > 0
    for name, parameter in head.named_parameters():
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_text_and_a_lone_text_have_finite_logits(model, features):
    head = Classify(4, 2, model)
    for lengths in ([2, 0], [3], [0]):
        for mode in (True, False):
            assert head.train(mode)(features(torch.randn(sum(lengths), 4), lengths)).isfinite().all()


def test_the_encoders_own_vector_of_a_text_is_read_where_there_is_one(features):
    head, words = Classify(4, 2).eval(), torch.randn(5, 4)
    pooled = torch.randn(2, 4)
    assert torch.equal(head(features(words, [2, 3], pooled)), head.model.out(pooled))
    assert not torch.allclose(head(features(words, [2, 3])), head.model.out(pooled))


@pytest.mark.parametrize("model", ["linear", "ulmfit", "bilstm", "pair"])
def test_a_head_begins_with_how_frequent_classes_are(model):
    head = Classify(8, 3, model).eval()
    targets = torch.tensor([0] * 90 + [1] * 10)
    head.expect(targets)
    features = Features(torch.zeros(4, 8), torch.tensor([0, 2, 4]))
    shares = head(features).softmax(1)[0] if model == "linear" else head.model.out.bias.softmax(0)
    torch.testing.assert_close(shares, torch.tensor([90, 10, 0.5]) / 100.5, rtol=1e-4, atol=1e-6)
    head.expect(torch.tensor([0, 1, 2] * 5))
    assert head.model.out.bias.tolist() == pytest.approx([0, 0, 0], abs=1e-6)
