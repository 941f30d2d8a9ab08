"""Word vectors that are counted: words of the same company are alike, and a model begun with them knows it."""

import numpy as np
import pytest
import torch

from polyseme.pretrain import company as counting
from polyseme.pretrain.company import company


def silent(done: int, total: int) -> None:
    pass


def numbers(ids):
    return ids.astype(np.int64)


def two_topics(n: int = 20_000) -> np.ndarray:
    """Words 0 to 4 keep company with each other, as do 5 to 9; the topic changes now and then."""
    draw = np.random.default_rng(0)
    topics = draw.integers(0, 2, n // 50).repeat(50)
    return (draw.integers(0, 5, n) + 5 * topics).astype(np.uint32)


def test_words_of_one_company_are_alike():
    vectors, _ = company(two_topics(), 10, 4, numbers, silent)
    alike = torch.cosine_similarity(vectors.unsqueeze(0), vectors.unsqueeze(1), dim=2)
    same = torch.block_diag(torch.ones(5, 5), torch.ones(5, 5)).bool()
    assert alike[same].min() > alike[~same].max() + 0.5
    assert vectors.square().mean().sqrt().item() == pytest.approx(1, rel=1e-5)


def test_shares_are_those_of_the_text_and_words_that_never_come_have_no_vector():
    ids = two_topics()
    vectors, shares = company(ids, 12, 4, numbers, silent)
    assert not vectors[10:].any()
    assert vectors[:10].any(1).all()
    wanted = np.bincount(ids, minlength=12) + 1
    torch.testing.assert_close(shares.exp().double(), torch.from_numpy(wanted / wanted.sum()), rtol=1e-5, atol=0)


def test_pairs_are_counted_to_both_sides_and_nearer_ones_count_more():
    parts = counting._Parts(np.array([0, 1, 2], np.uint32), numbers, silent)
    pairs = counting._pairs(parts, np.array([0, 1, 2]), 3)
    np.testing.assert_allclose(pairs, [[0, 1, 0.8], [1, 0, 1], [0.8, 1, 0]], rtol=1e-6)


def test_rare_neighbours_are_left_out_where_the_table_would_be_too_large(monkeypatch):
    monkeypatch.setattr(counting, "_MOST_CELLS", 60)
    vectors, _ = company(two_topics(), 10, 2, numbers, silent)
    assert vectors.shape == (10, 2)
    assert torch.isfinite(vectors).all()


def test_a_large_text_is_read_in_parts_from_all_over_it(monkeypatch):
    monkeypatch.setattr(counting, "_AT_ONCE", 10)
    monkeypatch.setattr(counting, "_MOST_READ", 30)
    told = []
    parts = counting._Parts(np.arange(100, dtype=np.uint32), numbers, lambda done, total: told.append((done, total)))
    found = np.concatenate(list(parts))
    assert len(found) <= 30
    assert found.min() < 20
    assert found.max() > 70
    assert told[-1] == (len(parts.starts), 2 * len(parts.starts))


@pytest.mark.parametrize("n", [1, 2])
def test_texts_of_hardly_a_word_are_no_trouble(n):
    vectors, shares = company(np.zeros(n, np.uint32), 3, 2, numbers, silent)
    assert torch.isfinite(vectors).all()
    assert torch.isfinite(shares).all()


def test_the_random_numbers_of_a_run_are_not_touched():
    torch.manual_seed(3)
    company(two_topics(), 10, 4, numbers, silent)
    after = torch.rand(1)
    torch.manual_seed(3)
    assert torch.equal(after, torch.rand(1))
