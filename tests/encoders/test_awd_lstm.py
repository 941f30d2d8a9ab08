import pytest
import torch
from pydantic import ValidationError

from polyseme.encoders import family
from polyseme.encoders.awd_lstm import (
    AwdLstmConfig,
    AwdLstmEncoder,
    BidirectionalAwdLstm,
    BidirectionalDecoder,
    Dropouts,
    TiedDecoder,
)
from polyseme.errors import Mistake
from polyseme.text.batches import take
from polyseme.text.marked import turned
from polyseme.types import Batch

CONFIG = AwdLstmConfig(n_words=30, embedding_width=8, hidden_width=12)
PAIR = CONFIG.model_copy(update={"bidirectional": True})
NOTHING = Dropouts(input=0, embedding=0, weight=0, hidden=0, output=0)


def batch_of(*lengths, seed=0):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, CONFIG.n_words, (sum(lengths),), generator=generator)
    return Batch(
        ids=ids,
        offsets=torch.tensor([0, *lengths]).cumsum(0),
        words=torch.cat([torch.arange(length) for length in lengths]),
        n_words=torch.tensor(lengths),
        texts=torch.arange(len(lengths)),
    )


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return AwdLstmEncoder(CONFIG).eval()


@pytest.fixture
def both():
    torch.manual_seed(0)
    return BidirectionalAwdLstm(PAIR).eval()


def close(one, other, atol=1e-6):
    return all(torch.allclose(a, b, atol=atol, rtol=0) for a, b in zip(one, other, strict=True))


def only(**rates):
    """A config with these dropouts and no others."""
    return CONFIG.model_copy(update={"dropouts": NOTHING.model_copy(update=rates)})


def test_layers_are_the_embedding_and_each_lstm(encoder):
    found = encoder(batch_of(4, 2))
    assert encoder.widths == (8, 12, 12, 8)
    assert tuple(layer.shape for layer in found.layers) == tuple((6, width) for width in encoder.widths)
    assert torch.equal(found.layers[0], encoder.embedding(batch_of(4, 2).ids))
    assert [tuple(tensor.shape) for tensor in found.state] == [(2, w) for w in (12, 12, 12, 12, 8, 8)]


@pytest.mark.parametrize("kind", ["encoder", "both"])
@pytest.mark.parametrize("lengths", [(5, 1, 9, 5), (4, 4, 4)])
def test_packing_does_not_change_vectors(kind, lengths, request):
    encoder, batch = request.getfixturevalue(kind), batch_of(*lengths)
    together = encoder(batch)
    for number in range(len(lengths)):
        alone = encoder(take(batch, torch.tensor([number])))
        rows = slice(batch.offsets[number], batch.offsets[number + 1])
        assert close([layer[rows] for layer in together.layers], alone.layers)
        assert close([tensor[number : number + 1] for tensor in together.state], alone.state)


@pytest.mark.parametrize("halves", [((3, 3), (2, 2)), ((3, 1), (2, 6)), ((4, 2), (0, 5))])
def test_two_halves_with_the_state_between_are_the_whole(encoder, halves):
    whole = batch_of(*[first + second for first, second in zip(*halves, strict=True)])
    firsts, seconds = [], []
    for start, first, second in zip(whole.offsets.tolist(), *halves, strict=False):
        firsts.append(whole.ids[start : start + first])
        seconds.append(whole.ids[start + first : start + first + second])
    one = encoder(packed(firsts))
    two = encoder(packed(seconds), one.state)
    found = encoder(whole)
    assert close(found.state, two.state)
    rows = interleaved(halves)
    assert close(found.layers, [torch.cat(pair)[rows] for pair in zip(one.layers, two.layers, strict=True)])


def packed(sequences):
    lengths = [len(ids) for ids in sequences]
    batch = batch_of(*lengths)
    return Batch(torch.cat(sequences), batch.offsets, batch.words, batch.n_words, batch.texts)


def interleaved(halves):
    """Where each row of the whole lies when the first halves are followed by the second."""
    first, second, rows = 0, sum(halves[0]), []
    for one, two in zip(*halves, strict=True):
        rows += [*range(first, first + one), *range(second, second + two)]
        first, second = first + one, second + two
    return torch.tensor(rows)


def test_the_same_batch_has_the_same_vectors_again(encoder):
    assert close(encoder(batch_of(3, 5)).layers, encoder(batch_of(3, 5)).layers, atol=0)


def test_an_empty_batch_has_no_rows(encoder, both):
    nothing = Batch(*[torch.zeros(n, dtype=torch.long) for n in (0, 1, 0, 0, 0)])
    assert [tuple(layer.shape) for layer in encoder(nothing).layers] == [(0, 8), (0, 12), (0, 12), (0, 8)]
    assert [len(layer) for layer in both(nothing).layers] == [0] * 4


def test_a_state_of_other_sequences_is_refused(encoder):
    state = encoder(batch_of(3, 5)).state
    with pytest.raises(Mistake, match=r"needs a state of shapes \[\(3, 12\)"):
        encoder(batch_of(3, 5, 2), state)


def test_a_pair_reads_both_ways_position_by_position(both):
    batch = batch_of(5, 1, 3)
    found = both(batch)
    ahead, back = both.forward_model(batch), both.backward_model(turned(batch))
    assert both.widths == (16, 24, 24, 16)
    for layer, one, other in zip(found.layers, ahead.layers, back.layers, strict=True):
        assert torch.equal(layer[:, : one.shape[1]], one)
        for start, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
            assert torch.equal(layer[start:end, one.shape[1] :], other[start:end].flip(0))


def test_both_halves_of_layer_0_are_of_the_word_at_that_position(both):
    batch = batch_of(4, 2)
    wanted = torch.cat([both.forward_model.embedding(batch.ids), both.backward_model.embedding(batch.ids)], 1)
    assert torch.equal(both(batch).layers[0], wanted)


def test_a_pair_carries_the_state_of_each_direction(both):
    batch = batch_of(3, 4)
    state = both(batch).state
    assert len(state) == 12
    found = both(batch, state)
    assert close(found.state[:6], both.forward_model(batch, state[:6]).state)
    assert close(found.state[6:], both.backward_model(turned(batch), state[6:]).state)


def test_blocks_are_ulmfits_layer_groups(encoder, both):
    assert encoder.blocks() == [encoder.embedding, *encoder.lstms]
    for model in (encoder, both):
        owned = [id(parameter) for block in model.blocks() for parameter in block.parameters()]
        assert sorted(owned) == sorted(id(parameter) for parameter in model.parameters())
        assert len(model.blocks()) == 4
    pair = both.blocks()[1]
    assert list(pair) == [both.forward_model.lstms[0], both.backward_model.lstms[0]]


@pytest.mark.parametrize("lengths", [(4, 4), (5, 2)])
@pytest.mark.parametrize("config", [CONFIG, PAIR])
def test_gradients_reach_every_parameter_in_training(lengths, config):
    torch.manual_seed(0)
    encoder, lm = family("awd_lstm").encoder(config).train(), family("awd_lstm").lm(config).train()
    logits = lm(encoder(batch_of(*lengths)).layers[-1], encoder)
    sum(part.square().sum() for part in (logits if isinstance(logits, tuple) else (logits,))).backward()
    for name, parameter in [*encoder.named_parameters(), *lm.named_parameters()]:
        assert parameter.grad.abs().sum() > 0, name


def test_the_seed_decides_all_dropouts(encoder):
    encoder.train()
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(encoder(batch_of(4, 2)).layers[-1])
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize("lengths", [(6, 6), (7, 5)])
def test_input_dropout_has_one_mask_a_sequence(encoder, lengths):
    seen = inputs_of(encoder.lstms[0], encoder, only(input=0.5), lengths)
    for sequence in seen:
        gone = sequence == 0
        assert torch.equal(gone.all(0), gone.any(0))  # a feature is gone at all steps or at none
    assert not torch.equal((seen[0] == 0)[0], (seen[1] == 0)[0])


@pytest.mark.parametrize("lengths", [(6, 6), (7, 5)])
def test_hidden_dropout_is_before_the_upper_lstms_only(encoder, lengths):
    config = only(hidden=0.5)
    assert not any((sequence == 0).any() for sequence in inputs_of(encoder.lstms[0], encoder, config, lengths))
    for lstm in encoder.lstms[1:]:
        for sequence in inputs_of(lstm, encoder, config, lengths):
            gone = sequence == 0
            assert gone.any()
            assert torch.equal(gone.all(0), gone.any(0))


def inputs_of(lstm, encoder, config, lengths):
    """What an LSTM layer reads, a tensor a sequence."""
    seen = []
    hook = lstm.register_forward_pre_hook(lambda _, given: seen.append(given[1].restore(given[0]).detach()))
    torch.manual_seed(0)
    encoder.train().run(batch_of(*lengths), None, config.rates)
    hook.remove()
    return seen[0].split(lengths)


def test_embedding_dropout_takes_whole_words(encoder):
    torch.manual_seed(0)
    batch = batch_of(20, 20)
    layer = encoder.train().run(batch, None, only(embedding=0.5).rates).layers[0]
    gone = (layer == 0).all(1)
    assert torch.equal(gone, (layer == 0).any(1))
    assert 0 < gone.sum() < 40
    for word in batch.ids.unique():
        assert len(gone[batch.ids == word].unique()) == 1


def test_output_dropout_has_one_mask_a_sequence_and_is_the_decoders(encoder):
    torch.manual_seed(0)
    found, lm = encoder(batch_of(4, 3)), TiedDecoder(only(output=0.5))
    dropped = lm.drop(found)
    for sequence in (dropped == 0).split((4, 3)):
        assert torch.equal(sequence.all(0), sequence.any(0))
    assert (dropped == 0).any()
    assert torch.equal(lm.eval().drop(found), found.layers[-1])


def test_a_frozen_block_in_eval_mode_drops_nothing_of_its_own(encoder):
    encoder.train()
    for block in encoder.blocks():
        block.eval()
    rates = only(embedding=0.5, weight=0.5).rates
    assert close(encoder.run(batch_of(4, 3), None, rates).layers, encoder.eval()(batch_of(4, 3)).layers, atol=0)


def test_the_decoder_is_tied_to_the_embedding(encoder):
    lm = TiedDecoder(CONFIG)
    vectors = torch.randn(5, 8)
    with torch.no_grad():
        lm.bias.uniform_()
    assert torch.allclose(lm(vectors, encoder), vectors @ encoder.embedding.weight.T + lm.bias)
    assert [name for name, _ in lm.named_parameters()] == ["bias"]


def test_a_pairs_decoder_gives_the_logits_of_each_direction(both):
    lm = BidirectionalDecoder(PAIR)
    found = both(batch_of(4, 2)).layers[-1]
    ahead, back = lm(found, both)
    assert torch.equal(ahead, lm.forward_decoder(found[:, :8], both.forward_model))
    assert torch.equal(back, lm.backward_decoder(found[:, 8:], both.backward_model))


def test_the_multiplier_scales_all_dropouts():
    rates = CONFIG.model_copy(update={"dropout_multiplier": 0.5}).rates
    assert dict(rates) == pytest.approx(
        {"input": 0.2, "embedding": 0.025, "weight": 0.25, "hidden": 0.15, "output": 0.2}
    )


def test_a_multiplier_that_drops_everything_is_refused():
    with pytest.raises(ValidationError, match="makes a rate"):
        AwdLstmConfig(n_words=10, dropout_multiplier=2)


def test_the_family_builds_it_again_from_its_config(encoder, both):
    kind = family("awd_lstm")
    for model in (encoder, both):
        config = kind.config.model_validate_json(model.config.model_dump_json())
        again = kind.encoder(config).eval()
        again.load_state_dict(model.state_dict())
        assert close(again(batch_of(3, 2)).layers, model(batch_of(3, 2)).layers, atol=0)


def test_one_lstm_layer_is_as_wide_as_the_embedding():
    encoder = AwdLstmEncoder(AwdLstmConfig(n_words=30, embedding_width=8, n_layers=1))
    assert [layer.shape[1] for layer in encoder(batch_of(3)).layers] == [8, 8]


def test_sizes_that_no_model_has_are_refused_before_anything_is_made():
    for wrong in ({"n_layers": 65}, {"n_layers": 10**30}, {"n_words": 10**30}):
        with pytest.raises(ValidationError):
            AwdLstmConfig(**{"n_words": 10, **wrong})
