import pytest
import torch

from polyseme.errors import Mistake
from polyseme.layers.attention import Runs, SelfAttention
from polyseme.text.batches import offsets_of

needs_avx = pytest.mark.skipif(
    not torch.backends.cpu.get_cpu_capability().startswith("AVX"), reason="without AVX2 nothing is rounded"
)
LENGTHS = [[4, 4, 4], [1, 2, 2, 5], [5, 1, 5, 2, 1], [3], [2, 0, 2], []]


def reference(attention, rows):
    """One sequence by the formula of the paper, a head at a time."""
    query, key, value = attention.qkv(rows).chunk(3, dim=-1)
    width = attention.width // attention.n_heads
    heads = []
    for q, k, v in zip(query.split(width, 1), key.split(width, 1), value.split(width, 1), strict=True):
        heads.append(torch.softmax(q @ k.T / width**0.5, dim=-1) @ v)
    return attention.out(torch.cat(heads, dim=1))


def attend(attention, rows, offsets):
    runs = Runs.of(offsets)
    return runs.restored(attention(runs.arranged(rows), runs))


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_each_sequence_attends_to_itself_alone(lengths):
    torch.manual_seed(0)
    attention, rows = SelfAttention(12, 3), torch.randn(sum(lengths), 12)
    found = attend(attention, rows, offsets_of(torch.tensor(lengths, dtype=torch.long)))
    wanted = [reference(attention, part) for part in rows.split(lengths)] if lengths else [rows]
    assert torch.allclose(found, torch.cat(wanted), atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("n_more", [0, 40])
@pytest.mark.parametrize("length", [1, 5, 12, 16, 17, 28, 47, 48])
def test_keys_that_fill_a_vector_change_nothing(length, n_more, dtype):
    torch.manual_seed(0)
    attention, rows = SelfAttention(12, 3).to(dtype), torch.randn(4 * length + 7, 12, dtype=dtype)
    runs = Runs.of(
        torch.tensor([0, length, 2 * length, 3 * length, 4 * length, 4 * length + 7]), lambda n_rows: n_more, lanes=16
    )
    with torch.inference_mode():
        found = runs.restored(attention(runs.arranged(rows), runs))
        wanted = torch.cat([reference(attention, part) for part in rows.split([length] * 4 + [7])])
    assert torch.allclose(found, wanted, atol=1e-6)


def test_keys_fill_a_vector_where_many_are_beyond_the_last_whole_one():
    offsets = torch.tensor([0, 17, 34, 54, 74])
    assert Runs.of(offsets, lanes=16).each == [(2, 17, 17), (2, 20, 32), (12, 1, 1)]
    assert Runs.of(torch.arange(10) * 5, lambda n_rows: -n_rows % 8, 16).each == [(9, 5, 16), (11, 1, 1)]


def test_there_are_no_more_rows_of_zeros_than_the_last_vectors_lack():
    assert Runs.of(torch.tensor([0, 16]), lanes=16).each == [(1, 16, 16)]
    assert Runs.of(torch.tensor([0, 29]), lanes=16).each == [(1, 29, 32), (3, 1, 1)]
    before_short_ones = Runs.of(torch.tensor([0, 4, 5, 6]), lanes=16)  # two of the twelve rows stand behind it
    assert before_short_ones.each == [(1, 4, 16), (2, 1, 1), (10, 1, 1)]
    assert Runs.of(torch.tensor([0, 5, 25]), lanes=16).each == [(1, 5, 16), (1, 20, 32), (12, 1, 1)]


def test_dropout_is_asked_for_without_gradients_too():
    torch.manual_seed(0)
    attention, rows, offsets = SelfAttention(8, 2, dropout=0.5), torch.randn(40, 8), torch.tensor([0, 20, 40])
    with torch.inference_mode():
        assert not torch.equal(attend(attention, rows, offsets), attend(attention.eval(), rows, offsets))


@pytest.mark.parametrize("lengths", LENGTHS[:-1], ids=str)
def test_rows_are_put_back_where_they_were(lengths):
    runs = Runs.of(offsets_of(torch.tensor(lengths)))
    rows = torch.arange(sum(lengths))
    assert torch.equal(runs.restored(runs.arranged(rows)), rows)
    assert sum(run.n * run.length for run in runs.each) == len(rows)


@pytest.mark.parametrize("lengths", LENGTHS[:-1], ids=str)
def test_rows_of_zeros_change_nothing_and_are_gone_at_the_end(lengths):
    torch.manual_seed(0)
    attention, rows, offsets = SelfAttention(8, 2), torch.randn(sum(lengths), 8), offsets_of(torch.tensor(lengths))
    runs = Runs.of(offsets, lambda n_rows: 5)
    arranged = runs.arranged(rows)
    assert len(arranged) == len(rows) + 5
    assert not arranged[-5:].any()
    assert torch.equal(runs.restored(arranged), rows)
    found = runs.restored(attention(arranged, runs))
    assert torch.allclose(found, attend(attention, rows, offsets), atol=1e-6)


@pytest.mark.parametrize("lengths", LENGTHS[:-1], ids=str)
def test_some_positions_alone_are_as_among_all(lengths):
    torch.manual_seed(0)
    attention, rows, offsets = SelfAttention(8, 2), torch.randn(sum(lengths), 8), offsets_of(torch.tensor(lengths))
    runs, some = Runs.of(offsets), torch.arange(0, sum(lengths), 2).flip(0)
    found = attention(runs.arranged(rows), runs, only=runs.places_of(some))
    assert torch.allclose(found, attend(attention, rows, offsets)[some], atol=1e-6)


def test_equal_lengths_share_a_run_wherever_they_stand():
    assert Runs.of(offsets_of(torch.tensor([5, 1, 5, 1, 5]))).each == [(2, 1, 1), (3, 5, 5)]


def test_sorted_sequences_are_not_moved():
    assert Runs.of(offsets_of(torch.tensor([1, 1, 2, 5, 5]))).order is None
    assert Runs.of(offsets_of(torch.tensor([5, 5, 2]))).order is None


@pytest.mark.parametrize("lengths", LENGTHS[:-1], ids=str)
def test_gradients_are_those_of_the_formula(lengths):
    torch.manual_seed(0)
    attention = SelfAttention(8, 2).double()
    rows = torch.randn(sum(lengths), 8, dtype=torch.double, requires_grad=True)
    weights = torch.randn(sum(lengths), 8, dtype=torch.double)
    found = attend(attention, rows, offsets_of(torch.tensor(lengths)))
    wanted = torch.cat([reference(attention, part) for part in rows.split(lengths)])
    wrt = [rows, *attention.parameters()]
    ours = torch.autograd.grad((found * weights).sum(), wrt)
    theirs = torch.autograd.grad((wanted * weights).sum(), wrt)
    assert all(torch.allclose(a, b, atol=1e-10) for a, b in zip(ours, theirs, strict=True))


def test_dropout_acts_in_training_only():
    torch.manual_seed(0)
    attention, rows, offsets = SelfAttention(8, 2, dropout=0.5), torch.randn(6, 8), torch.tensor([0, 3, 6])
    assert not torch.equal(attend(attention, rows, offsets), attend(attention, rows, offsets))
    attention.eval()
    assert torch.equal(attend(attention, rows, offsets), attend(attention, rows, offsets))


def test_heads_must_share_the_width():
    with pytest.raises(Mistake, match="10 cannot be shared among 3 heads"):
        SelfAttention(10, 3)


@pytest.mark.parametrize("lengths", [[2, 4, 4, 1], [4, 0, 2, 4]], ids=str)
def test_first_and_last_rows_are_known_in_any_order(lengths):
    runs, rows = Runs.of(offsets_of(torch.tensor(lengths)), lanes=16), torch.arange(sum(lengths)).unsqueeze(1)
    found = runs.arranged(rows)[runs.ends].flatten()
    parts = [part for part in rows.flatten().split(lengths) if len(part)]
    assert sorted(found.tolist()) == sorted(int(part[at]) for part in parts for at in (0, -1))


@needs_avx
def test_in_8_bits_values_of_first_and_last_rows_are_not_rounded(monkeypatch):
    torch.manual_seed(0)
    attention, rows, heads = SelfAttention(12, 3), torch.randn(12, 12), []
    monkeypatch.setattr(attention, "_attend", lambda part, run: heads.append(part) or part[:, :12])
    with torch.inference_mode():
        attention(rows, Runs.of(torch.tensor([0, 5, 12])), "int8")
        away = (torch.cat(heads) - attention.qkv(rows)).abs()  # (12, 36)
    errors = away[:, 24:].amax(1)
    assert (away[:, :24].amax(1) > 1e-5).all()  # queries and keys are
    assert (errors[[0, 4, 5, 11]] < 1e-6).all()
    assert (errors[[1, 2, 3, 6, 7, 8, 9, 10]] > 1e-5).all()
