"""Packed batches: nothing lost, nothing doubled, like lengths together."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyseme.text.bags import BagTokenizer, Subwords
from polyseme.text.batches import groups, take
from polyseme.text.words import to_text

LENGTHS = st.lists(st.integers(0, 40), max_size=60)


@given(LENGTHS, st.integers(1, 100), st.none() | st.integers(1, 20), st.integers(1, 3))
def test_every_sequence_is_in_one_batch_and_batches_keep_the_budget(lengths, budget, window, times):
    lengths = torch.tensor(lengths, dtype=torch.long)
    found = list(groups(lengths, budget, window, times))
    assert sorted(index for group in found for index in group.tolist()) == list(range(len(lengths)))
    assert all(lengths[group].sum() <= budget or len(group) == 1 for group in found)


@pytest.mark.parametrize("n_sequences", [9, 100, 131, 512])
def test_batches_for_several_at_once_are_even(n_sequences):
    lengths = torch.randint(5, 60, (n_sequences,), generator=torch.Generator().manual_seed(0))
    sizes = [int(lengths[group].sum()) for group in groups(lengths, 512, times=2)]
    assert len(sizes) % 2 == 0
    assert len(sizes) <= len(list(groups(lengths, 512))) + 1
    assert max(sizes) - min(sizes) <= 2 * int(lengths.max())


@given(LENGTHS)
def test_a_batch_holds_like_lengths(lengths):
    lengths = torch.tensor(lengths, dtype=torch.long)
    in_order = torch.cat([lengths[group] for group in groups(lengths, 50)] or [lengths])
    assert in_order.tolist() == sorted(lengths.tolist())


TEXTS = ["A crack in the wall", "", "He was high on crack", "crack crack", "Unseen words everywhere"]


def spelled(batch):
    """Each position's spelling, sequence by sequence."""
    rows = batch.spellings.values.tensor_split(batch.spellings.offsets[1:-1])
    return [[rows[i].tolist() for i in part.tolist()] for part in batch.ids.tensor_split(batch.offsets[1:-1])]


@pytest.mark.parametrize("subwords", [None, Subwords(3, 4, 50)])
def test_taking_sequences_keeps_what_they_spell(subwords):
    tokenizer = BagTokenizer(("crack", "the", "wall", "in"), subwords, fold_case=True)
    whole = tokenizer.encode([to_text(text) for text in TEXTS])
    chosen = torch.tensor([3, 0, 1])
    part = take(whole, chosen)
    assert spelled(part) == [spelled(whole)[i] for i in chosen.tolist()]
    assert part.n_words.tolist() == [2, 5, 0]
    assert part.texts.tolist() == [3, 0, 1]
    assert part.words.tolist() == [0, 1, 0, 1, 2, 3, 4]
    assert len(part.spellings.offsets) - 1 == 5  # crack A in the wall: only words that are left


def test_taking_nothing_gives_an_empty_batch():
    whole = BagTokenizer(("a",)).encode([to_text("a b")])
    empty = take(whole, torch.tensor([], dtype=torch.long))
    assert (empty.n_sequences, len(empty.ids)) == (0, 0)
