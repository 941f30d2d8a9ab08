import pytest
import torch

from polyseme.errors import Mistake
from polyseme.heads.span import Found, Span

LENGTHS = [4, 1, 6, 3]


def offsets(lengths):
    return torch.tensor([0, *lengths]).cumsum(0)


@pytest.fixture
def toy(features):
    """Answers begin at a word high in the first column and end with one high in the second."""
    torch.manual_seed(0)
    targets, words = torch.tensor([[1, 3], [0, 1], [2, 6], [0, 1]]), torch.randn(14, 4) * 0.2
    made = features(words, LENGTHS)
    words[made.offsets[:-1] + targets[:, 0], 0] += 4
    words[made.offsets[:-1] + targets[:, 1] - 1, 1] += 4
    return made, targets


@pytest.mark.parametrize("no_answer", [False, True])
def test_a_separable_problem_is_learned(no_answer, toy, learn):
    made, targets = toy
    head = Span(4, dropout=0.0, no_answer=no_answer)
    losses = learn(head, made, targets)
    assert losses[-1] < 0.3 * losses[0]
    found = head.decode(head(made), made.offsets)
    assert [[one.start, one.end] for one in found] == targets.tolist()
    assert [one.sequence for one in found] == [0, 1, 2, 3]


def test_the_loss_is_the_mean_of_two_cross_entropies_within_each_text():
    torch.manual_seed(0)
    logits, targets = torch.randn(14, 2), torch.tensor([[1, 3], [0, 1], [-1, -1], [0, 3]])
    wanted = [
        torch.nn.functional.cross_entropy(part[:, side], target[side] - side)
        for part, target in zip(logits.split(LENGTHS), targets, strict=True)
        for side in (0, 1)
        if target[0] >= 0
    ]
    found = Span(4).loss(logits, targets, offsets(LENGTHS))
    assert torch.allclose(found, torch.stack(wanted).mean(), atol=1e-6)


def test_without_an_answer_the_entry_for_none_is_wanted():
    torch.manual_seed(0)
    logits, targets = torch.randn(14, 2), torch.tensor([[1, 3], [0, 1], [-1, -1], [0, 3]])
    wanted = []
    for part, (start, end) in zip(logits.split(LENGTHS), targets.tolist(), strict=True):
        more = torch.cat([part, torch.zeros(1, 2)])  # none comes last
        first, last = (start, end - 1) if start >= 0 else (len(part), len(part))
        wanted.append(-more.log_softmax(0)[[first, last], [0, 1]].mean())
    found = Span(4, no_answer=True).loss(logits, targets, offsets(LENGTHS))
    assert torch.allclose(found, torch.stack(wanted).mean(), atol=1e-6)


def test_where_there_is_no_answer_the_score_falls_below_zero(toy, learn):
    made, targets = toy
    head, targets = Span(4, dropout=0.0, no_answer=True), targets.clone()
    with torch.no_grad():
        made.words[5:11, :2] = 0
    targets[2] = -1
    learn(head, made, targets, 200)
    assert [one.score > 0 for one in head.decode(head(made), made.offsets)] == [True, True, False, True]


@torch.no_grad()
def test_packing_changes_neither_logits_nor_spans(toy, alone):
    made, _ = toy
    head = Span(4).eval()
    logits = [head(one) for one in alone(made)]
    assert torch.allclose(head(made), torch.cat(logits), atol=1e-6)
    lone = [head.decode(own, offsets([len(own)]))[0] for own in logits]
    for number, (one, other) in enumerate(zip(head.decode(torch.cat(logits), made.offsets), lone, strict=True)):
        assert one == other._replace(sequence=number)


@pytest.mark.parametrize("no_answer", [False, True])
def test_gradients_flow_and_an_empty_text_spoils_none(no_answer, features):
    made = features(torch.randn(5, 4).requires_grad_(), [3, 0, 2])
    head = Span(4, dropout=0.0, no_answer=no_answer)
    head.loss(head(made), torch.tensor([[0, 2], [-1, -1], [1, 2]]), made.offsets).backward()
    assert made.words.grad.isfinite().all()
    assert (made.words.grad.abs().sum(1) > 0).all()
    assert head.out.weight.grad.abs().sum() > 0


def best_by_trying(logits, where, allowed, texts, longest):
    found = [None] * (int(texts[-1]) + 1)
    for sequence, text in enumerate(texts.tolist()):
        first, stop = int(where[sequence]), int(where[sequence + 1])
        for start in range(first, stop):
            for end in range(start + 1, min(start + longest, stop) + 1):
                score = (logits[start, 0] + logits[end - 1, 1]).item()
                if allowed[start:end].all() and (found[text] is None or score > found[text].score):
                    found[text] = Found(sequence, start - first, end - first, score)
    return found


@pytest.mark.parametrize("longest", [1, 2, 30])
def test_the_best_span_over_all_windows_is_that_of_trying_all(longest):
    for seed in range(20):
        torch.manual_seed(seed)
        lengths, texts = torch.randint(0, 7, (6,)).tolist(), torch.tensor([0, 0, 1, 3, 3, 3])
        n, where = sum(lengths), offsets(lengths)
        logits, allowed = torch.randn(n, 2), torch.rand(n) < 0.7
        found = Span(4).decode(logits, where, allowed, texts, longest)
        assert found == best_by_trying(logits, where, allowed, texts, longest)


def test_no_words_or_none_allowed_have_no_span():
    assert Span(4).decode(torch.zeros(0, 2), offsets([0, 0])) == [None, None]
    assert Span(4).decode(torch.zeros(0, 2), offsets([0, 0]), texts=torch.tensor([0, 0])) == [None]
    assert Span(4).decode(torch.zeros(2, 2), offsets([2]), torch.zeros(2, dtype=torch.bool)) == [None]
    assert Span(4).decode(torch.zeros(0, 2), offsets([])) == []


@pytest.mark.parametrize("target", [[2, 2], [0, 5], [-1, 2], [3, 1]])
def test_an_answer_outside_its_text_is_refused(target):
    with pytest.raises(Mistake, match=r"The answer to text 0 is words .* the text has 4 words"):
        Span(4).loss(torch.zeros(4, 2), torch.tensor([target]), offsets([4]))


def test_no_room_for_an_answer_is_refused():
    with pytest.raises(Mistake, match="longest=0 allows no answer"):
        Span(4).decode(torch.zeros(4, 2), offsets([4]), longest=0)
