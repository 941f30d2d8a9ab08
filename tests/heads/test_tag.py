import pytest
import torch

from polyseme.errors import Mistake
from polyseme.heads.tag import Tag
from polyseme.tasks.tags import first_break

KINDS = [(model, crf) for model in ("linear", "bilstm") for crf in (False, True)]
TAGS = ["O", "B-A", "I-A", "B-B", "I-B"]
LENGTHS = [4, 1, 3, 0, 5]


@pytest.fixture
def toy(features):
    torch.manual_seed(0)
    targets = torch.tensor([0, 1, 2, 2, 3, 1, 3, 4, 0, 3, 4, 4, 0])
    words = torch.randn(13, 6) * 0.2
    words[torch.arange(13), targets] += 4
    return features(words, LENGTHS), targets


@pytest.mark.parametrize("model, crf", KINDS)
def test_a_separable_problem_is_learned(model, crf, toy, learn):
    made, targets = toy
    head = Tag(6, TAGS, model, crf, dropout=0.0, hidden_width=8)
    learn(head, made, targets, rate=0.3)
    assert torch.equal(head.decode(head(made), made.offsets), targets)


@pytest.mark.parametrize("model, crf", KINDS)
@torch.no_grad()
def test_packing_changes_neither_logits_nor_tags(model, crf, toy, alone):
    torch.manual_seed(1)
    made, _ = toy
    head = Tag(6, TAGS, model, crf, dropout=0.5).eval()
    logits = [head(one) for one in alone(made)]
    assert torch.allclose(head(made), torch.cat(logits), atol=1e-5)
    tags = [head.decode(own, one.offsets) for own, one in zip(logits, alone(made), strict=True)]
    assert torch.equal(head.decode(head(made), made.offsets), torch.cat(tags))


@pytest.mark.parametrize("model, crf", KINDS)
def test_gradients_flow_to_all_weights_and_to_the_words(model, crf, toy):
    made, targets = toy
    made.words.requires_grad_()
    head = Tag(6, TAGS, model, crf, dropout=0.0)
    head.loss(head(made), targets, made.offsets).backward()
    assert made.words.grad.abs().sum() > 0
    for name, parameter in head.named_parameters():
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("crf", [False, True])
def test_answers_keep_to_the_scheme_of_the_tags_unless_told_not_to(crf):
    torch.manual_seed(0)
    offsets = torch.tensor([0, 40, 41, 60])
    logits, broken = torch.randn(60, 5), 0
    for constrain in (True, False):
        found = Tag(6, TAGS, crf=crf, constrain=constrain).decode(logits, offsets).split([40, 1, 19])
        breaks = [first_break([TAGS[tag] for tag in part], "IOB2") for part in found]
        if constrain:
            assert breaks == [None] * 3
        else:
            broken = sum(place is not None for place in breaks)
    assert broken


def test_with_rules_but_no_crf_the_best_allowed_sum_wins():
    head = Tag(6, ["O", "B-A", "I-A"])
    logits = torch.tensor([[2.0, 1.5, 0.0], [0.0, 0.0, 3.0]])
    assert logits.argmax(1).tolist() == [0, 2]
    assert head.decode(logits, torch.tensor([0, 2])).tolist() == [1, 2]


def test_tags_that_mark_no_spans_are_taken_one_by_one():
    head, logits = Tag(6, ["NOUN", "VERB", "X"]), torch.randn(7, 3)
    assert torch.equal(head.decode(logits, torch.tensor([0, 3, 7])), logits.argmax(1))


@pytest.mark.parametrize("crf", [False, True])
def test_texts_without_words_cost_nothing(crf, features):
    made, head = features(torch.zeros(0, 6), [0, 0]), Tag(6, TAGS, "bilstm", crf)
    assert head.loss(head(made), torch.zeros(0, dtype=torch.long), made.offsets) == 0
    assert head.decode(head(made), made.offsets).tolist() == []


def test_broken_training_tags_are_refused_by_the_crf():
    with pytest.raises(Mistake, match="which the rules forbid"):
        Tag(6, TAGS, crf=True).loss(torch.zeros(2, 5), torch.tensor([0, 2]), torch.tensor([0, 2]))


@pytest.mark.parametrize("tags", [[], ["O", "O"]])
def test_no_tags_or_one_twice_are_refused(tags):
    with pytest.raises(Mistake, match="wanted one or more, each once"):
        Tag(6, tags)


def test_an_unknown_model_is_refused():
    with pytest.raises(Mistake, match="Use 'linear' or 'bilstm'"):
        Tag(6, TAGS, "gru")
