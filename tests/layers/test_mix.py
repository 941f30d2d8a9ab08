import warnings

import pytest
import torch

from polyseme.errors import Mistake
from polyseme.layers.mix import Mix, choose


def some(n_layers, n_rows=7, width=4):
    return tuple(torch.randn(n_rows, width, dtype=torch.double) * (1 + j) + j for j in range(n_layers))


def random_mix(n_layers, **options):
    mix = Mix(n_layers, **options).double()
    torch.nn.init.normal_(mix.scores)
    torch.nn.init.constant_(mix.gamma, 1.7)
    return mix


def scalar_mix(layers, lengths, w, gamma, norm):
    """AllenNLP's ScalarMix on padded tensors (texts, longest, width) with a mask."""
    padded = [torch.nn.utils.rnn.pad_sequence(layer.split(lengths), batch_first=True) for layer in layers]
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    broadcast, width = mask.unsqueeze(-1).double(), layers[0].shape[1]
    n_elements = mask.sum() * width
    total = 0
    for weight, tensor in zip(torch.softmax(w, 0), padded, strict=True):
        if norm:
            masked = tensor * broadcast
            mean = masked.sum() / n_elements
            variance = (((masked - mean) * broadcast) ** 2).sum() / n_elements
            tensor = (tensor - mean) / torch.sqrt(variance + 1e-12)
        total = total + weight * tensor
    return (gamma * total)[mask]


@pytest.mark.parametrize("norm", [False, True])
@torch.no_grad()
def test_the_mix_is_that_of_allennlp(norm):
    torch.manual_seed(0)
    mix, layers = random_mix(3, norm=norm), some(3)
    wanted = scalar_mix(layers, [2, 4, 1], mix.scores, mix.gamma, norm)
    assert torch.allclose(mix(layers), wanted, atol=1e-12)


def test_it_starts_as_the_mean_of_the_layers():
    layers, mix = some(5), Mix(5).double()
    assert torch.allclose(mix(layers), choose(layers, "mix"), atol=1e-12)
    assert mix.weights.tolist() == pytest.approx([0.2] * 5)


@pytest.mark.parametrize("norm", [False, True])
def test_weights_gamma_and_layers_have_the_gradients_of_finite_differences(norm):
    mix, layers = random_mix(3, norm=norm), [layer.requires_grad_() for layer in some(3)]

    def run(scores, gamma, *layers):
        return torch.func.functional_call(mix, {"scores": scores, "gamma": gamma}, (layers,))

    assert torch.autograd.gradcheck(run, [mix.scores, mix.gamma, *layers])


def test_packing_changes_the_mix_only_while_a_normed_one_learns():
    layers, mix, normed = some(3), random_mix(3), random_mix(3, norm=True).train()
    first = tuple(layer[:3] for layer in layers)
    assert torch.allclose(mix(layers)[:3], mix(first), atol=1e-12)
    assert not torch.allclose(normed(layers)[:3], normed(first), atol=1e-3)
    normed.eval()
    assert torch.allclose(normed(layers)[:3], normed(first), atol=1e-12)


def test_afterwards_a_normed_mix_takes_the_mean_of_the_batches_it_has_learned_from():
    mix, batches = random_mix(2, norm=True).train(), [some(2), tuple(3 * layer + 1 for layer in some(2))]
    for batch in batches:
        mix(batch)
    mix.eval()
    again = random_mix(2, norm=True).eval()
    again.load_state_dict(mix.state_dict())
    stacked = torch.stack([torch.stack(batch) for batch in batches])  # (batches, layers, rows, width)
    mean, variance = stacked.mean((2, 3)).mean(0), stacked.var((2, 3), correction=0).mean(0)
    normed = (stacked[0] - mean[:, None, None]) / variance[:, None, None].sqrt()
    wanted = mix.gamma * torch.einsum("l,lrw->rw", mix.weights, normed)
    torch.testing.assert_close(mix(batches[0]), wanted)
    torch.testing.assert_close(again(batches[0]), wanted)


def test_the_penalty_is_the_strength_times_the_squares():
    mix = Mix(3)
    mix.scores.data = torch.tensor([1.0, 2.0, -3.0])
    assert mix.penalty(0.5).item() == 7.0
    assert Mix(3).penalty(1.0).item() == 0.0


def test_only_training_drops():
    torch.manual_seed(0)
    mix, layers = Mix(2, dropout=0.5).double(), some(2, 100)
    dropped = mix(layers)
    assert 0.4 < (dropped == 0).double().mean() < 0.6
    whole = mix.eval()(layers)
    assert torch.allclose(dropped[dropped != 0], 2 * whole[dropped != 0])


@pytest.mark.parametrize("norm", [False, True])
def test_no_rows_are_no_trouble(norm):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Mix(3, norm=norm)(tuple(torch.zeros(3, 0, 4))).shape == (0, 4)


def test_layers_of_other_widths_or_another_number_are_refused():
    with pytest.raises(Mistake, match="this encoder has 4, 3"):
        Mix(2)((torch.zeros(2, 4), torch.zeros(2, 3)))
    with pytest.raises(Mistake, match="This mix is of 3 layers; 2 were given"):
        Mix(3)((torch.zeros(2, 4), torch.zeros(2, 4)))


def test_the_last_four_stand_side_by_side_whatever_their_widths():
    layers = tuple(torch.randn(2, width) for width in (9, 4, 3, 3, 4))
    assert torch.equal(choose(layers, "last4"), torch.cat(layers[1:], 1))
    assert choose(layers, "last4").shape == (2, 14)


def test_fewer_than_four_layers_have_no_last_four():
    with pytest.raises(Mistake, match=r"this encoder has 3 layers.*with four or more .last4."):
        choose(some(3), "last4")


def test_an_unknown_choice_is_refused():
    with pytest.raises(Mistake, match="'top', 'mix', 'last4', 'all'"):
        choose(some(2), "bottom")
