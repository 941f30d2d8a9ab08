import torch

from polyseme.layers import dropout


def ones(*shape):
    return torch.ones(shape, requires_grad=True)


def test_variational_dropout_has_one_mask_for_all_steps_of_a_sequence():
    torch.manual_seed(0)
    sequences = torch.tensor([0, 1, 0, 1, 1])
    dropped = dropout.variational(ones(5, 64), sequences, 2, 0.5, training=True)
    assert torch.equal(dropped[0], dropped[2])
    assert torch.equal(dropped[1], dropped[3])
    assert torch.equal(dropped[1], dropped[4])
    assert not torch.equal(dropped[0], dropped[1])
    assert set(dropped.unique().tolist()) == {0.0, 2.0}


def test_variational_dropout_is_the_same_for_a_block_as_for_packed_rows():
    vectors = torch.randn(3, 4, 16)
    torch.manual_seed(0)
    block = dropout.variational_block(vectors, 0.3, training=True)
    torch.manual_seed(0)
    sequences = torch.arange(3).repeat_interleave(4)
    packed = dropout.variational(vectors.flatten(0, 1), sequences, 3, 0.3, training=True)
    assert torch.equal(block.flatten(0, 1), packed)


def test_embedding_dropout_drops_whole_words_everywhere_or_nowhere():
    torch.manual_seed(0)
    ids = torch.arange(200).repeat(2)
    vectors = dropout.embedding(ids, ones(200, 8), 0.5, training=True)
    assert set(vectors.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(vectors.amin(1), vectors.amax(1))  # a row is gone or it is there
    assert torch.equal(vectors[:200], vectors[200:])


def test_weight_dropout_drops_single_weights():
    torch.manual_seed(0)
    dropped = dropout.dropped_weight(ones(64, 64), 0.5, training=True)
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert (dropped.amin(1) != dropped.amax(1)).all()  # no row is gone as a whole


def test_nothing_is_dropped_outside_training_or_at_rate_0():
    rows, sequences = torch.randn(6, 4), torch.tensor([0, 0, 1, 1, 1, 1])
    for p, training in [(0.5, False), (0.0, True)]:
        assert torch.equal(dropout.variational(rows, sequences, 2, p, training), rows)
        assert torch.equal(dropout.variational_block(rows.view(2, 3, 4), p, training), rows.view(2, 3, 4))
        assert torch.equal(dropout.embedding(torch.arange(6), rows, p, training), rows)
        assert torch.equal(dropout.dropped_weight(rows, p, training), rows)


def test_the_mean_stays_what_it_was():
    torch.manual_seed(0)
    assert abs(dropout.keep_mask(torch.ones(1), (100_000,), 0.3).mean().item() - 1) < 0.01


def test_the_default_generator_decides_the_masks():
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append(dropout.keep_mask(torch.ones(1), (64,), 0.5))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_gradients_reach_what_was_kept_and_only_that():
    torch.manual_seed(0)
    weight = ones(50, 4)
    dropped = dropout.embedding(torch.arange(50), weight, 0.5, training=True)
    dropped.sum().backward()
    assert torch.equal(weight.grad, dropped.detach())
