import pytest
import torch
from torch import nn

from polyseme.layers.packed_lstm import EvenSteps, PackedLstm, UnevenSteps, steps_of

LENGTHS = [[3, 3, 3], [2, 5, 1, 5], [1], [4, 0, 2], [0, 0], []]


def offsets(lengths):
    return torch.tensor([0, *lengths]).cumsum(0)


def zeros(n_sequences, width=6):
    return torch.zeros(n_sequences, width), torch.zeros(n_sequences, width)


def twin(lstm):
    """torch's own layer with the same weights."""
    other = nn.LSTM(4, 6, batch_first=True)
    other.load_state_dict({f"{name}_l0": tensor for name, tensor in lstm.state_dict().items()})
    return other


@pytest.mark.parametrize("lengths", LENGTHS)
def test_rows_are_arranged_and_restored(lengths):
    steps, rows = steps_of(offsets(lengths)), torch.randn(sum(lengths), 2)
    assert torch.equal(steps.restore(steps.arrange(rows)), rows)


def test_sequences_of_one_length_are_read_as_they_lie():
    assert isinstance(steps_of(offsets([3, 3])), EvenSteps)
    assert isinstance(steps_of(offsets([3, 2])), UnevenSteps)


def test_steps_go_through_all_sequences_at_once_longest_first():
    steps = steps_of(offsets([1, 3, 2]))
    rows = torch.arange(6)
    assert steps.arrange(rows).tolist() == [1, 4, 0, 2, 5, 3]
    assert torch.equal(steps.restore(steps.arrange(rows)), rows)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_every_sequence_has_what_torchs_own_layer_gives_it_alone(lengths):
    torch.manual_seed(0)
    lstm, where = PackedLstm(4, 6), offsets(lengths)
    steps, rows = steps_of(where), torch.randn(sum(lengths), 4)
    hidden, cell = torch.randn(len(lengths), 6), torch.randn(len(lengths), 6)
    out, hidden_after, cell_after = lstm(steps.arrange(rows), steps, hidden, cell)
    found = steps.restore(out)
    for number, length in enumerate(lengths):
        start = (hidden[number : number + 1], cell[number : number + 1])
        wanted, after = rows.new_zeros(0, 6), start
        if length:
            wanted, after = twin(lstm)(rows[where[number] : where[number + 1]], start)
        assert torch.allclose(found[where[number] : where[number + 1]], wanted, atol=1e-6)
        assert torch.allclose(hidden_after[number], after[0][0], atol=1e-6)
        assert torch.allclose(cell_after[number], after[1][0], atol=1e-6)
    assert found.shape == (sum(lengths), 6)


@pytest.mark.parametrize("lengths", [[3, 3], [4, 2]])
def test_only_recurrent_weights_are_dropped(lengths):
    """With every recurrent weight but none of the others gone, each step stands alone."""
    torch.manual_seed(0)
    lstm, steps = PackedLstm(4, 6), steps_of(offsets(lengths))
    rows = steps.arrange(torch.randn(sum(lengths), 4))
    found = lstm(rows, steps, *zeros(2), weight_p=1 - 1e-9)[0]
    with torch.no_grad():
        lstm.weight_hh.zero_()
    assert torch.equal(found, lstm(rows, steps, *zeros(2))[0])


def test_one_mask_of_weights_serves_all_steps():
    torch.manual_seed(0)
    lstm, steps, rows = PackedLstm(4, 6), steps_of(offsets([5, 5])), torch.randn(2, 5, 4)
    fixed = twin(lstm)
    torch.manual_seed(7)
    found = lstm(rows, steps, *zeros(2), weight_p=0.5)[0]
    torch.manual_seed(7)
    with torch.no_grad():
        fixed.weight_hh_l0.copy_(nn.functional.dropout(fixed.weight_hh_l0, 0.5))
    assert torch.allclose(found, fixed(rows)[0], atol=1e-6)


def test_no_weight_is_dropped_in_eval_mode():
    lstm, steps, rows = PackedLstm(4, 6).eval(), steps_of(offsets([5, 5])), torch.randn(2, 5, 4)
    assert torch.equal(lstm(rows, steps, *zeros(2), weight_p=0.5)[0], lstm(rows, steps, *zeros(2))[0])


@pytest.mark.parametrize("lengths", [[3, 3], [4, 2]])
def test_gradients_flow_through_dropped_weights(lengths):
    torch.manual_seed(0)
    lstm, steps = PackedLstm(4, 6), steps_of(offsets(lengths))
    rows = torch.randn(sum(lengths), 4, requires_grad=True)
    lstm(steps.arrange(rows), steps, *zeros(2), weight_p=0.5)[0].square().sum().backward()
    assert rows.grad.abs().sum() > 0
    for parameter in lstm.parameters():
        assert parameter.grad.abs().sum() > 0
    dropped = (lstm.weight_hh.grad == 0).float().mean()
    assert 0.3 < dropped < 0.7
