import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from polyseme.errors import Mistake
from polyseme.lens.in_context import directions
from polyseme.lens.senses import central, form_means, forms, group, telling_words, without_forms
from polyseme.text.mentions import mentions


def clouds(sizes, spread=0.3, width=20, seed=0):
    """Points around as many middles, and which middle each belongs to."""
    draw = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    middles = draw.standard_normal((len(sizes), width)) + 2  # 2: what all have in common
    return directions(middles[truth] + spread * draw.standard_normal((len(truth), width))), truth


def test_groups_that_are_apart_are_found_with_their_number():
    rows, truth = clouds([20, 60, 40])
    found = group(rows)
    assert found.n == 3
    assert adjusted_rand_score(truth, found.labels) == 1
    assert np.bincount(found.labels).tolist() == [60, 40, 20]  # the largest first
    assert found.apart
    assert found.stability > 0.9
    assert found.verdict().startswith("3 groups, clear")


def test_one_cloud_is_said_to_be_one_sense():
    rows, _ = clouds([120], spread=1.0)
    found = group(rows)
    assert not found.apart
    assert found.verdict().startswith("No sign of more than one sense")


def test_as_many_senses_as_are_asked_for():
    rows, _ = clouds([30, 30])
    assert group(rows, n_senses=4).n == 4
    with pytest.raises(Mistake, match="60 senses of 60 occurrences cannot be"):
        group(rows, n_senses=60)


def test_the_same_seed_gives_the_same_groups():
    rows, _ = clouds([30, 30], spread=1.5)
    assert np.array_equal(group(rows, seed=3).labels, group(rows, seed=3).labels)


def test_too_few_occurrences_are_not_grouped():
    with pytest.raises(Mistake, match="There are 9 occurrences; 10 are the least"):
        group(np.eye(9, dtype=np.float32))


def test_the_most_central_occurrence_is_nearest_to_the_middle():
    rows, _ = clouds([30, 30])
    labels = group(rows).labels
    middle = rows[labels == 0].mean(0) - rows.mean(0)
    centred = directions(rows - rows.mean(0))
    wanted = max(np.flatnonzero(labels == 0), key=lambda place: centred[place] @ middle)
    best = central(rows, labels, 0, n=2)
    assert len(best) == 2
    assert all(labels[place] == 0 for place in best)
    assert centred[best[0]] @ middle == pytest.approx(centred[wanted] @ middle, abs=0.02)


def test_words_tell_a_sense_when_the_others_lack_them():
    texts = ["a bank by the river", "the bank of a river", "the river bank"] * 3
    texts += ["money in the bank", "the bank has money", "a bank lends money"] * 3
    labels = np.repeat([0, 1], 9)
    found = mentions(texts, "bank")
    assert telling_words(found, labels, 0)[0] == "river"
    assert telling_words(found, labels, 1)[0] == "money"
    assert "the" not in telling_words(found, labels, 0)


def test_the_forms_of_a_sense_are_counted():
    found = mentions(["a crack", "Crack !", "it cracks", "it cracks"], "crack", ["cracks"])
    assert forms(found, np.array([0, 0, 0, 1]), 0) == {"crack": 2, "cracks": 1}


def test_forms_of_the_word_are_no_senses():
    rows, truth = clouds([40, 40])
    found = mentions(["a crack", "it cracks"] * 40, "crack", ["cracks"])  # each form has both senses
    shift = np.where([one.word == "crack" for one in found], 1.0, -1.0)[:, None] * 2
    rows = (rows + shift * np.eye(rows.shape[1])[0]).astype(np.float32)
    assert adjusted_rand_score(truth, group(rows, n_senses=2).labels) < 0.1  # what the vectors show first is the form
    means = form_means(rows, found)
    assert adjusted_rand_score(truth, group(without_forms(rows, found, means), n_senses=2).labels) == 1


def test_a_form_that_is_rare_has_the_mean_of_all_taken_off():
    rows, _ = clouds([12])
    found = mentions([*["a crack"] * 11, "it cracks"], "crack", ["cracks"])
    means = form_means(rows, found)
    assert set(means) == {"", "crack"}
    np.testing.assert_allclose(without_forms(rows, found, means)[11], rows[11] - rows.mean(0), atol=1e-6)


def test_occurrences_with_one_vector_show_no_senses():
    rows = np.repeat(directions(np.ones((1, 20))), 30, 0)
    noise = 1e-7 * np.random.default_rng(0).standard_normal(rows.shape)  # what rounding leaves
    for same in (rows, (rows + noise).astype(np.float32)):
        with pytest.raises(Mistake, match="All 30 occurrences have one vector at this layer"):
            group(same)


def test_occurrences_that_coincide_are_grouped_by_their_few_vectors(recwarn):
    rows, _ = clouds([3])
    found = group(np.repeat(rows, [20, 10, 5], 0))
    assert found.n in (2, 3)
    assert set(found.silhouettes) == {2, 3}
    assert found.silhouette == found.silhouettes[found.n]
    assert str(found.n) in found.verdict() or "No sign" in found.verdict()
    with pytest.raises(Mistake, match=r"4 senses of 35 occurrences cannot be\. Ask for 2 to 3"):
        group(np.repeat(rows, [20, 10, 5], 0), n_senses=4)
    assert not recwarn.list


def test_any_whole_number_is_a_seed():
    rows, _ = clouds([30, 30], spread=1.5)
    assert np.array_equal(group(rows, seed=-1).labels, group(rows, seed=-1).labels)
