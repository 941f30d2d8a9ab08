from itertools import pairwise, product

import pytest
import torch

from polyseme.errors import Mistake
from polyseme.layers.crf import Allowed, Chain, Crf, viterbi

# O, B, I: I only inside a span
IOB2 = Allowed(
    torch.tensor([[1, 1, 0], [1, 1, 1], [1, 1, 1]]).bool(), torch.tensor([1, 1, 0]).bool(), torch.ones(3).bool()
)


def offsets(lengths):
    return torch.tensor([0, *lengths]).cumsum(0)


def random_crf(n_tags, allowed=None):
    crf = Crf(n_tags, allowed).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    return crf


def score(scores, tags, crf):
    """One path, added up by hand."""
    chain = crf.chain()
    total = sum(scores[row, tag] for row, tag in enumerate(tags)) + chain.start[tags[0]] + chain.end[tags[-1]]
    return float(total + sum(chain.follow[one, other] for one, other in pairwise(tags)))


def all_paths(scores, crf):
    paths = list(product(range(scores.shape[1]), repeat=len(scores)))
    return paths, torch.tensor([score(scores, path, crf) for path in paths], dtype=torch.double)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_tags", [2, 3, 4])
@torch.no_grad()
def test_likelihood_and_best_path_are_those_of_trying_all(n_tags, length):
    torch.manual_seed(10 * n_tags + length)
    crf, scores = random_crf(n_tags), torch.randn(length, n_tags).double()
    paths, totals = all_paths(scores, crf)
    tags = torch.randint(n_tags, (length,))
    wanted = totals.logsumexp(0) - score(scores, tags.tolist(), crf)
    assert torch.allclose(crf.nll(scores, tags, offsets([length])), wanted, atol=1e-12)
    assert tuple(crf.best(scores, offsets([length])).tolist()) == paths[totals.argmax()]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
@torch.no_grad()
def test_what_is_forbidden_is_neither_counted_nor_found(length):
    torch.manual_seed(length)
    crf, scores = random_crf(3, IOB2), torch.randn(length, 3).double()
    scores[:, 2] += 5  # tempt it
    paths, totals = all_paths(scores, crf)
    best = crf.best(scores, offsets([length]))
    assert best[0] != 2
    assert not any(one == 0 and other == 2 for one, other in pairwise(best.tolist()))
    assert tuple(best.tolist()) == paths[totals.argmax()]
    wanted = totals.logsumexp(0) - score(scores, best.tolist(), crf)
    assert torch.allclose(crf.nll(scores, best, offsets([length])), wanted, atol=1e-12)


@pytest.mark.parametrize("lengths", [[3, 1, 4, 0, 4], [2, 2], [0, 0, 3], [1]])
@torch.no_grad()
def test_packing_changes_neither_likelihood_nor_path(lengths):
    torch.manual_seed(0)
    crf, scores, tags = random_crf(4), torch.randn(sum(lengths), 4).double(), torch.randint(4, (sum(lengths),))
    losses, paths = [], []
    for rows, own in zip(scores.split(lengths), tags.split(lengths), strict=True):
        if len(rows):
            losses.append(crf.nll(rows, own, offsets([len(rows)])))
        paths.append(crf.best(rows, offsets([len(rows)])))
    assert torch.allclose(crf.nll(scores, tags, offsets(lengths)), torch.stack(losses).mean(), atol=1e-12)
    assert torch.equal(crf.best(scores, offsets(lengths)), torch.cat(paths))


@pytest.mark.parametrize("allowed", [None, IOB2])
def test_gradients_are_those_of_finite_differences(allowed):
    torch.manual_seed(0)
    crf, where, tags = random_crf(3, allowed), offsets([3, 0, 1, 4]), torch.tensor([1, 2, 0, 0, 1, 2, 2, 0])
    names = [name for name, _ in crf.named_parameters()]

    def nll(scores, *parameters):
        values = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(_Nll(crf), {f"crf.{k}": v for k, v in values.items()}, (scores, tags, where))

    inputs = [torch.randn(8, 3).double().requires_grad_(), *(p.detach().requires_grad_() for p in crf.parameters())]
    assert torch.autograd.gradcheck(nll, inputs)


class _Nll(torch.nn.Module):
    def __init__(self, crf):
        super().__init__()
        self.crf = crf

    def forward(self, scores, tags, where):
        return self.crf.nll(scores, tags, where)


def test_a_long_sequence_is_as_exact_as_in_double_precision():
    torch.manual_seed(0)
    crf, where, tags = random_crf(5).float(), offsets([3000]), torch.randint(5, (3000,))
    scores = 7 + torch.randn(3000, 5).index_put((torch.arange(3000), tags), torch.tensor(3.0), accumulate=True)
    loss = crf.nll(scores, tags, where)
    (gradient,) = torch.autograd.grad(loss, crf.follow)
    exact = crf.double().nll(scores.double(), tags, where)
    (wanted,) = torch.autograd.grad(exact, crf.follow)
    assert abs((loss - exact).item()) < 0.1  # of 2,000
    assert (gradient - wanted).abs().max() < 0.05  # of 3,000 steps


def test_no_sequence_or_only_empty_ones_cost_nothing_and_have_no_tags():
    crf = Crf(3)
    for lengths in ([], [0], [0, 0]):
        scores = torch.zeros(0, 3, requires_grad=True)
        loss = crf.nll(scores, torch.zeros(0, dtype=torch.long), offsets(lengths))
        loss.backward()
        assert loss == 0
        assert scores.grad.shape == (0, 3)
        assert crf.best(scores, offsets(lengths)).tolist() == []


def test_it_learns_what_follows_what():
    """The scores say nothing; the tags alternate."""
    crf, where = Crf(2), offsets([5, 4])
    tags, scores = torch.tensor([0, 1, 0, 1, 0, 0, 1, 0, 1]), torch.zeros(9, 2)
    for _ in range(20):
        gradients = torch.autograd.grad(crf.nll(scores, tags, where), list(crf.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(crf.parameters(), gradients, strict=True):
                parameter -= gradient
    assert torch.equal(crf.best(scores, where), tags)


def test_tags_that_break_the_rules_are_refused():
    with pytest.raises(Mistake, match=r"Sequence 1 has the tags \[0, 2\], which the rules forbid"):
        Crf(3, IOB2).nll(torch.zeros(4, 3), torch.tensor([1, 2, 0, 2]), offsets([2, 2]))


def test_rules_of_the_wrong_shape_are_refused():
    with pytest.raises(Mistake, match=r"allowed.follow is torch.bool of shape \(3, 3\); wanted .* \(4, 4\)"):
        Crf(4, IOB2)


def test_rules_that_leave_no_path_are_refused():
    chain = Chain(torch.zeros(2, 2), torch.full((2,), -torch.inf), torch.zeros(2))
    with pytest.raises(Mistake, match="No tags are allowed for a sequence of 3 words"):
        viterbi(torch.zeros(3, 2), offsets([3]), chain)


def test_rules_are_not_saved_since_the_tags_tell_them():
    assert set(Crf(3, IOB2).state_dict()) == {"follow", "start", "end"}
