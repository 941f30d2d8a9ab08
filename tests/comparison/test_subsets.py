from collections import Counter

import pytest
from toys import reviews, tagged

from polyseme.adapt.data import Data
from polyseme.comparison.subsets import nested, parted, subset
from polyseme.errors import Mistake


def skewed():
    labels = ["common"] * 900 + ["some"] * 90 + ["rare"] * 10
    return Data([f"text {place}" for place in range(1000)], labels)


@pytest.mark.parametrize("classes", [True, False])
def test_fewer_labels_are_part_of_more(classes):
    data, before = skewed(), set()
    for n_labels in (10, 100, 500, 1000):
        now = set(subset(data, n_labels, seed=4, classes=classes).inputs)
        assert len(now) == n_labels
        assert before <= now
        before = now


def test_classes_keep_their_proportions_and_none_is_missing():
    data = skewed()
    for n_labels in (100, 500):
        found = Counter(subset(data, n_labels, seed=1, classes=True).labels)
        assert found["common"] == pytest.approx(0.9 * n_labels, abs=2)
        assert found["rare"] >= 1
    assert set(subset(data, 3, seed=1, classes=True).labels) == {"common", "some", "rare"}


def test_seeds_choose_other_examples_but_all_are_all():
    data = skewed()
    one, other = (subset(data, 100, seed, True).inputs for seed in (0, 1))
    assert len(set(one) & set(other)) < 40
    assert subset(data, 1000, 0, True) == subset(data, 1000, 1, True) == data
    assert sorted(nested(data.labels, 3, True)) == list(range(1000))


def test_the_test_is_split_off_once_and_that_is_said():
    data = skewed()
    parts = parted(data, None, None)
    assert len(parts.test) == 200
    assert parts.valid is None  # each fit holds out some of its own
    assert len(set(parts.train.inputs) | set(parts.test.inputs)) == len(parts.train) + 200 == 1000
    assert "200 examples are kept" in parts.said[0]
    assert parted(data, None, None) == parts


def test_what_is_given_is_taken():
    parts = parted(reviews(), reviews(20, seed=1), tagged(5))
    assert (len(parts.train), len(parts.valid), len(parts.test)) == (80, 5, 20)
    assert "5 labelled examples more" in parts.said[0]
    with pytest.raises(Mistake, match="Give --test"):
        parted(reviews(6), None, None)
