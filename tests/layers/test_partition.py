import torch

from polyseme.layers.partition import log_partition


def one_sequence(scores, follow, start, end):
    """The forward recurrence as it is written in books, for autograd."""
    state = start + scores[0]
    for row in scores[1:]:
        state = (state.unsqueeze(1) + follow).logsumexp(0) + row
    return (state + end).logsumexp(0)


def random_chain(n_tags):
    torch.manual_seed(0)
    shapes = [(n_tags, n_tags), (n_tags,), (n_tags,)]
    return [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]


def both(scores, lengths, chain, weights):
    """Sums and gradients of all sequences at once, and of one after another."""
    offsets, inputs = torch.tensor([0, *lengths]).cumsum(0), [scores, *chain]
    packed = log_partition(scores, offsets, *chain)
    alone = torch.stack([one_sequence(part, *chain) for part in scores.split(lengths)])
    gradients = [torch.autograd.grad((sums * weights).sum(), inputs) for sums in (packed, alone)]
    return packed, alone, zip(*gradients, strict=True)


def test_sums_and_gradients_are_those_of_one_sequence_after_another():
    lengths, chain = [3, 7, 1, 7], random_chain(6)
    scores = torch.randn(18, 6, dtype=torch.double, requires_grad=True)
    packed, alone, gradients = both(scores, lengths, chain, torch.tensor([1.0, -2.0, 0.5, 3.0]))
    assert torch.allclose(packed, alone, atol=1e-12)
    assert all(torch.allclose(one, other, atol=1e-12) for one, other in gradients)


def test_scores_hundreds_apart_keep_their_gradients():
    lengths, chain = [5, 4], random_chain(3)
    scores = (300 * torch.randn(9, 3, dtype=torch.double)).requires_grad_()
    packed, alone, gradients = both(scores, lengths, chain, torch.ones(2))
    assert torch.allclose(packed, alone, rtol=1e-12)
    assert all(torch.allclose(one, other, atol=1e-9) for one, other in gradients)


def test_scores_thousands_apart_stay_numbers():
    chain = random_chain(3)
    scores = (1e4 * torch.randn(9, 3, dtype=torch.double)).requires_grad_()
    sums = log_partition(scores, torch.tensor([0, 5, 9]), *chain)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(sums.sum(), [scores, *chain]))
