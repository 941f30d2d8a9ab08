"""The character CNN against the same computed the long way: every word padded to its full length."""

from itertools import pairwise

import pytest
import torch
from torch.nn import functional as F

from polyseme.layers.char_cnn import CharCnn
from polyseme.types import Packed

PAD, N_CHARACTERS, LONGEST = 9, 10, 12
FILTERS = ((1, 3), (2, 4), (5, 6))


def make(activation="relu", n_highway=2, width=7, filters=FILTERS):
    torch.manual_seed(1)
    cnn = CharCnn(N_CHARACTERS, PAD, LONGEST, 4, filters, n_highway, width, activation)
    for parameter in cnn.parameters():
        torch.nn.init.normal_(parameter, 0, 0.7)
    return cnn


def words(*lengths):
    generator = torch.Generator().manual_seed(2)
    values = torch.randint(0, PAD, (sum(lengths),), generator=generator, dtype=torch.int16)
    return Packed(values, torch.tensor([0, *lengths]).cumsum(0))


def the_long_way(cnn, spellings):
    rows = [spellings.values[start:end].long() for start, end in pairwise(spellings.offsets.tolist())]
    characters = torch.stack([F.pad(row, (0, LONGEST - len(row)), value=PAD) for row in rows])
    embedded = cnn.characters[characters].mT  # (words, width, characters)
    activation = torch.relu if cnn.activation == "relu" else torch.tanh
    found = []
    for (wide, n), kernel, bias in zip(cnn.filters, cnn.kernels, cnn.biases, strict=True):
        weight = kernel.view(wide, -1, n).permute(2, 1, 0)
        found.append(activation(F.conv1d(embedded, weight, bias).max(-1).values))
    out = torch.cat(found, 1)
    for highway in cnn.highways:
        gate = torch.sigmoid(highway.carry(out))
        out = gate * torch.relu(highway.transform(out)) + (1 - gate) * out
    return out if cnn.projection is None else cnn.projection(out)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("n_highway", [0, 1, 2])
@pytest.mark.parametrize("grad", [True, False])
def test_few_pads_give_what_all_pads_give(activation, n_highway, grad):
    cnn, spellings = make(activation, n_highway), words(*range(2, LONGEST + 1), 3, 2)
    with torch.set_grad_enabled(grad):
        assert (cnn(spellings) - the_long_way(cnn, spellings)).abs().max() < 1e-5


@pytest.mark.parametrize("length", range(2, LONGEST + 1))
def test_a_word_alone_has_the_vector_it_has_among_others(length):
    cnn, alone = make(), words(length)
    others = words(*range(2, LONGEST + 1))
    together = Packed(torch.cat([alone.values, others.values]), torch.cat([alone.offsets, others.offsets[1:] + length]))
    one, other = cnn(alone)[0], cnn(together)[0]
    assert (one - other).abs().max() < 1e-6 * one.abs().max()


def test_pads_take_part_in_the_maximum_only_where_the_word_leaves_room_for_a_window():
    cnn = make(n_highway=0, filters=((5, 6),))
    with torch.no_grad():
        cnn.kernels[0].fill_(0.01)
        cnn.characters[PAD] = 100  # a window of pads wins wherever there is one
    short, full = cnn(words(3, LONGEST))
    assert not torch.allclose(short, full)
    assert (cnn(words(3, LONGEST)) - the_long_way(cnn, words(3, LONGEST))).abs().max() < 1e-3


def test_many_words_keep_their_order(monkeypatch):
    monkeypatch.setattr("polyseme.layers.char_cnn._WORDS", 4)
    cnn, spellings = make(), words(*[5, 2, 12, 7] * 10)
    assert (cnn(spellings) - the_long_way(cnn, spellings)).abs().max() < 1e-5


def test_as_many_filters_as_the_width_need_no_projection():
    cnn, spellings = make(width=None), words(4, 6)
    assert cnn(spellings).shape == (2, 13)
    assert (cnn(spellings) - the_long_way(cnn, spellings)).abs().max() < 1e-5


def test_no_words_have_no_vectors():
    assert make()(words()).shape == (0, 7)


def test_every_parameter_learns_as_the_long_way_teaches():
    cnn, spellings = make().double(), words(2, 5, 12, 8)
    weights = torch.randn(4, 7, dtype=torch.float64)
    wanted = torch.autograd.grad((the_long_way(cnn, spellings) * weights).sum(), list(cnn.parameters()))
    found = torch.autograd.grad((cnn(spellings) * weights).sum(), list(cnn.parameters()))
    for one, other in zip(found, wanted, strict=True):
        assert other.abs().sum() > 0
        assert torch.allclose(one, other, atol=1e-10)


def test_at_first_highways_carry_nearly_everything_through():
    cnn = CharCnn(N_CHARACTERS, PAD, LONGEST, 4, FILTERS, 2, 7)
    assert {highway.carry.bias.unique().item() for highway in cnn.highways} == {-2.0}
