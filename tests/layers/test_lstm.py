"""The packed LSTM against a loop over single sequences and single steps."""

import pytest
import torch

from polyseme.layers.lstm import ProjectedLstm
from polyseme.layers.time_major import TimeMajor

LENGTHS = [3, 7, 1, 0, 7, 4]
OFFSETS = torch.tensor([0, *LENGTHS]).cumsum(0)
ORDER = TimeMajor.of(OFFSETS)


def order(*lengths):
    return TimeMajor.of(torch.tensor([0, *lengths]).cumsum(0))


def make(width=5, cell_width=8, cell_clip=0.3, projection_clip=0.2):
    torch.manual_seed(0)
    lstm = ProjectedLstm(width, cell_width, cell_clip, projection_clip)
    for parameter in lstm.parameters():
        torch.nn.init.normal_(parameter, 0, 0.5)
    return lstm


def state_for(lstm, n_sequences, dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    width, cell_width = lstm.projection.out_features, lstm.projection.in_features
    return tuple(torch.randn(n_sequences, size, generator=generator, dtype=dtype) * 0.1 for size in (width, cell_width))


def by_hand(lstm, rows, offsets, state, reverse):
    """One sequence, one step, one gate at a time."""
    outputs, hiddens, memories = torch.zeros_like(rows), [], []
    clip = lambda values, limit: values if limit is None else values.clamp(-limit, limit)  # noqa: E731
    for number, (start, end) in enumerate(zip(offsets.tolist(), offsets.tolist()[1:], strict=False)):
        hidden, memory = state[0][number], state[1][number]
        for place in range(end - 1, start - 1, -1) if reverse else range(start, end):
            gates = lstm.input.weight @ rows[place] + lstm.recurrent.weight @ hidden + lstm.input.bias
            i, f, o, j = gates.chunk(4)
            memory = torch.sigmoid(f + 1) * memory + torch.sigmoid(i) * torch.tanh(j)
            memory = clip(memory, lstm.cell_clip)
            hidden = clip(lstm.projection.weight @ (torch.sigmoid(o) * torch.tanh(memory)), lstm.projection_clip)
            outputs = outputs.index_put((torch.tensor(place),), hidden)
        hiddens.append(hidden)
        memories.append(memory)
    return outputs, (torch.stack(hiddens), torch.stack(memories))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("clips", [(0.3, 0.2), (None, 0.2), (0.3, None), (None, None)])
@pytest.mark.parametrize("grad", [False, True])
def test_it_is_the_loop_by_hand(reverse, clips, grad):
    lstm, rows = make(cell_clip=clips[0], projection_clip=clips[1]), torch.randn(sum(LENGTHS), 5)
    state = state_for(lstm, len(LENGTHS))
    wanted, (hidden, memory) = by_hand(lstm, rows, OFFSETS, state, reverse)
    given = [part.clone() for part in state]
    with torch.set_grad_enabled(grad):
        found, (new_hidden, new_memory) = lstm(rows, TimeMajor.of(OFFSETS, reverse), state)
    for one, other in [(found, wanted), (new_hidden, hidden), (new_memory, memory)]:
        assert (one - other).abs().max() < 1e-5
    assert all(torch.equal(before, after) for before, after in zip(given, state, strict=True))


@pytest.mark.parametrize("reverse", [False, True])
def test_no_state_is_a_state_of_zeros(reverse):
    lstm, rows = make(), torch.randn(sum(LENGTHS), 5)
    zeros = tuple(torch.zeros_like(part) for part in state_for(lstm, len(LENGTHS)))
    which = TimeMajor.of(OFFSETS, reverse)
    assert torch.equal(lstm(rows, which, None)[0], lstm(rows, which, zeros)[0])


def test_two_halves_with_the_state_between_them_are_the_whole():
    lstm, rows = make(), torch.randn(10, 5)
    whole, end = lstm(rows, order(10))
    first, state = lstm(rows[:4], order(4))
    second, last = lstm(rows[4:], order(6), state)
    assert (torch.cat([first, second]) - whole).abs().max() < 1e-6
    assert (last[1] - end[1]).abs().max() < 1e-6


@pytest.mark.parametrize("n_rows", [1, 3, 1000])
def test_how_many_steps_share_an_input_product_does_not_matter(monkeypatch, n_rows):
    lstm, rows = make(), torch.randn(sum(LENGTHS), 5)
    with torch.no_grad():
        wanted = lstm(rows, ORDER)[0]
        monkeypatch.setattr("polyseme.layers.lstm._ROWS", n_rows)
        assert (lstm(rows, ORDER)[0] - wanted).abs().max() < 1e-6


@pytest.mark.parametrize("reverse", [False, True])
def test_every_gradient_is_that_of_the_loop_by_hand(reverse):
    lstm = make(3, 4).double()
    rows = torch.randn(sum(LENGTHS), 3, dtype=torch.float64, requires_grad=True)
    state = tuple(part.requires_grad_() for part in state_for(lstm, len(LENGTHS), torch.float64))
    inputs = [rows, *state, *lstm.parameters()]
    weights = torch.randn(sum(LENGTHS), 3, dtype=torch.float64)

    def loss(outputs, last):
        return (outputs * weights).sum() + last[0].sum() + last[1].square().sum()

    wanted = torch.autograd.grad(loss(*by_hand(lstm, rows, OFFSETS, state, reverse)), inputs)
    found = torch.autograd.grad(loss(*lstm(rows, TimeMajor.of(OFFSETS, reverse), state)), inputs)
    for one, other in zip(found, wanted, strict=True):
        assert other.abs().sum() > 0
        assert torch.allclose(one, other, atol=1e-10)


def test_gradients_are_those_of_small_differences():
    lstm = make(2, 2, None, None).double()
    rows = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in lstm.named_parameters()]

    def run(rows, *parameters):
        named = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(lstm, named, (rows, order(3, 1)))[0]

    assert torch.autograd.gradcheck(run, (rows, *lstm.parameters()))


def test_a_step_of_a_fused_optimizer_is_seen():
    lstm, rows = make(), torch.randn(sum(LENGTHS), 5)
    optimizer = torch.optim.AdamW(lstm.parameters(), 0.1, fused=True)
    for _ in range(3):
        with torch.no_grad():
            found = lstm(rows, ORDER)[0]
        assert (found - lstm(rows, ORDER)[0]).abs().max() < 1e-5
        lstm(rows, ORDER)[0].sum().backward()
        optimizer.step()
        with torch.no_grad():
            assert (found - lstm(rows, ORDER)[0]).abs().max() > 1e-3


def test_no_sequences_have_no_outputs():
    lstm = make()
    outputs, (hidden, memory) = lstm(torch.zeros(0, 5), order())
    assert outputs.shape == (0, 5)
    assert (hidden.shape, memory.shape) == ((0, 5), (0, 8))
