import pytest
import torch
from torch import nn

from polyseme.layers.bilstm import BiLstm

LENGTHS = [[3, 3], [2, 5, 1, 5], [4, 0, 2], [1], [0, 0], []]


def offsets(lengths):
    return torch.tensor([0, *lengths]).cumsum(0)


def twin(bilstm, n_layers):
    """torch's own layers with the same weights."""
    other = nn.LSTM(4, 3, n_layers, batch_first=True, bidirectional=True)
    state = {
        f"{name.split('.')[1]}_l{name.split('.')[0]}{suffix}": tensor
        for lstms, suffix in ((bilstm.forwards, ""), (bilstm.backwards, "_reverse"))
        for name, tensor in lstms.state_dict().items()
    }
    other.load_state_dict(state)
    return other


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("lengths", LENGTHS)
@torch.no_grad()
def test_every_sequence_has_what_torchs_own_layers_give_it_alone(lengths, n_layers):
    torch.manual_seed(0)
    bilstm, rows = BiLstm(4, 3, n_layers), torch.randn(sum(lengths), 4)
    found, other = bilstm(rows, offsets(lengths)), twin(bilstm, n_layers)
    assert found.rows.shape == (sum(lengths), 6)
    assert found.last.shape == (len(lengths), 6)
    parts = zip(rows.split(lengths), found.rows.split(lengths), found.last, strict=True)
    for part, own, last in parts:
        if len(part):
            wanted, (hidden, _) = other(part.unsqueeze(0))
            assert torch.allclose(own, wanted[0], atol=1e-6)
            assert torch.allclose(last, hidden[-2:].flatten(), atol=1e-6)
        else:
            assert not last.any()


def test_the_order_of_sequences_changes_no_vector():
    torch.manual_seed(0)
    bilstm, rows = BiLstm(4, 3, 2, dropout=0.5).eval(), torch.randn(7, 4)
    found = bilstm(rows, offsets([4, 1, 2]))
    turned = bilstm(torch.cat([rows[5:], rows[:5]]), offsets([2, 4, 1]))
    assert torch.allclose(torch.cat([turned.rows[2:], turned.rows[:2]]), found.rows, atol=1e-6)
    assert torch.allclose(turned.last[[1, 2, 0]], found.last, atol=1e-6)


@pytest.mark.parametrize("lengths", [[3, 3], [4, 2]])
def test_one_mask_serves_a_whole_sequence(lengths):
    torch.manual_seed(0)
    bilstm, rows = BiLstm(4, 3, dropout=0.5), torch.ones(6, 4, requires_grad=True)
    bilstm(rows, offsets(lengths)).rows.sum().backward()
    kept = (rows.grad != 0).split(lengths)
    assert all((part == part[0]).all() for part in kept)
    assert 0 < sum(int(part[0].sum()) for part in kept) < 8


def test_gradients_flow_to_all_weights():
    bilstm, rows = BiLstm(4, 3, 2), torch.randn(6, 4, requires_grad=True)
    found = bilstm(rows, offsets([4, 2]))
    (found.rows.square().sum() + found.last.sum()).backward()
    assert rows.grad.abs().sum() > 0
    assert all(parameter.grad.abs().sum() > 0 for parameter in bilstm.parameters())
