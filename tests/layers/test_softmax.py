"""The sampled loss estimates the full one, and its samples are what the formula says."""

import math

import torch

from polyseme.layers.softmax import Ranking, Softmax, log_expected, log_uniform_samples, losses


def test_samples_are_distinct_and_as_frequent_as_expected():
    torch.manual_seed(0)
    n_words, n_samples, rounds = 50, 12, 4000
    counts, expected = torch.zeros(n_words), torch.zeros(n_words)
    for _ in range(rounds):
        samples, tries = log_uniform_samples(n_words, n_samples)
        assert len(set(samples.tolist())) == n_samples
        counts[samples] += 1
        expected += log_expected(torch.arange(n_words), n_words, tries).exp()
    assert ((counts - expected).abs() < 5 * expected.sqrt() + 0.02 * expected).all()


def test_sampling_every_word_gives_the_full_loss():
    torch.manual_seed(0)
    softmax, vectors, targets = Softmax(8, 30), torch.randn(40, 8), torch.randint(0, 30, (40,))
    with torch.no_grad():
        softmax.bias.normal_()
    exact = softmax.loss(vectors, targets)
    sampled = softmax.sampled_loss(vectors, targets, n_samples=30)
    torch.testing.assert_close(sampled, exact, atol=0.05, rtol=0)  # every word is nearly certain to be expected


def test_training_with_the_sampled_loss_lowers_the_full_one():
    torch.manual_seed(0)
    softmax, vectors = Softmax(8, 200), torch.randn(100, 8)
    targets = torch.randint(0, 200, (100,))
    before = softmax.loss(vectors, targets).item()
    optimizer = torch.optim.Adam(softmax.parameters(), 0.05)
    for _ in range(300):
        optimizer.zero_grad()
        softmax.sampled_loss(vectors, targets, n_samples=20).backward()
        optimizer.step()
    assert softmax.loss(vectors, targets).item() < 0.6 * before


def test_a_fresh_full_softmax_is_near_uniform():
    torch.manual_seed(0)
    loss = Softmax(64, 1000).loss(torch.randn(50, 64) * 0.1, torch.randint(0, 1000, (50,)))
    assert abs(loss.item() - math.log(1000)) < 0.2


def test_the_full_loss_and_its_gradients_are_cross_entropys():
    torch.manual_seed(0)
    softmax = Softmax(8, 50).double()
    vectors, targets = torch.randn(600, 8, dtype=torch.double, requires_grad=True), torch.randint(0, 50, (600,))
    parameters = [vectors, softmax.weight, softmax.bias]
    found = softmax.loss(vectors, targets)
    wanted = torch.nn.functional.cross_entropy(softmax(vectors), targets)
    torch.testing.assert_close(found, wanted)
    pairs = zip(torch.autograd.grad(3 * found, parameters), torch.autograd.grad(3 * wanted, parameters), strict=True)
    for one, other in pairs:
        torch.testing.assert_close(one, other)


def test_the_full_loss_stands_huge_logits():
    softmax = Softmax(2, 3)
    with torch.no_grad():
        softmax.weight.fill_(1e4)
    assert softmax.loss(torch.ones(1, 2), torch.tensor([1])).item() == torch.tensor(3.0).log().item()


def test_the_sampled_loss_and_its_gradients_are_those_of_autograd():
    """Written down plainly: the target beside the samples, a sample that is the target left out."""
    torch.manual_seed(0)
    softmax = Softmax(6, 40).double()
    vectors, targets = torch.randn(70, 6, dtype=torch.double, requires_grad=True), torch.randint(0, 40, (70,))
    parameters = [vectors, softmax.weight, softmax.bias]
    torch.manual_seed(5)
    found = softmax.sampled_loss(vectors, targets, n_samples=12)
    torch.manual_seed(5)
    samples, tries = log_uniform_samples(40, 12)
    assert (targets.unsqueeze(1) == samples).any()  # some are hit
    logits = softmax(vectors) - log_expected(torch.arange(40), 40, tries)
    true = logits.gather(1, targets.unsqueeze(1))
    others = logits[:, samples].masked_fill(targets.unsqueeze(1) == samples, -torch.inf)
    wanted = (torch.cat([true, others], 1).logsumexp(1) - true.squeeze(1)).mean()
    torch.testing.assert_close(found, wanted)
    pairs = zip(torch.autograd.grad(2 * found, parameters), torch.autograd.grad(2 * wanted, parameters), strict=True)
    for one, other in pairs:
        torch.testing.assert_close(one, other)


def test_a_ranking_draws_words_by_their_frequency_wherever_they_stand():
    """The sampled gradient at a frequent word is the same whether it stands first or last in the vocabulary."""
    torch.manual_seed(0)
    n_words, places = 200, torch.randperm(200)  # the word of each rank
    softmax, moved = Softmax(6, n_words), Softmax(6, n_words)
    with torch.no_grad():
        softmax.bias.normal_()
        moved.weight[places], moved.bias[places] = softmax.weight, softmax.bias
    vectors, targets = torch.randn(40, 6), torch.randint(n_words, (40,))
    counts = torch.empty(n_words, dtype=torch.long)
    counts[places] = torch.arange(n_words, 0, -1)
    torch.manual_seed(1)
    wanted = softmax.sampled_loss(vectors, targets, 30)
    torch.manual_seed(1)
    found = moved.sampled_loss(vectors, places[targets], 30, Ranking.of(counts))
    torch.testing.assert_close(found, wanted)
    wanted.backward()
    found.backward()
    torch.testing.assert_close(moved.weight.grad[places], softmax.weight.grad)


def test_losses_of_a_very_large_vocabulary_are_taken_a_few_rows_at_a_time(monkeypatch):
    seen = []

    def logits(rows):
        seen.append(len(rows))
        return rows.new_zeros(len(rows), 50)

    monkeypatch.setattr("polyseme.layers.softmax._LOGITS", 150)
    found = losses(logits, torch.randn(7, 2), torch.zeros(7, dtype=torch.long))
    assert max(seen) == 3
    torch.testing.assert_close(found, torch.full((7,), 50.0).log())
    assert losses(logits, torch.randn(0, 2), torch.zeros(0, dtype=torch.long)).shape == (0,)
