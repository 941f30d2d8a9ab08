import os
import random
import re
import string
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import polyseme
from polyseme.errors import Mistake
from polyseme.tasks.scores import (
    accuracy,
    answer_f1,
    confusion,
    exact_match,
    macro_f1,
    matthews,
    pearson,
    spearman,
)

ALL = [accuracy, macro_f1, matthews, pearson, spearman]


def random_labels(rng):
    n_classes, n = rng.integers(1, 6), rng.integers(1, 40)
    names = np.array(["a", "b", "c", "d", "é"]) if rng.random() < 0.5 else np.arange(5)
    wanted = names[rng.integers(0, n_classes, n)]
    return wanted, np.where(rng.random(n) < 0.5, wanted, names[rng.integers(0, 5, n)])


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns of a single class
def test_scores_of_classes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(60):
        wanted, given = random_labels(rng)
        f1 = metrics.f1_score(wanted, given, average="macro", zero_division=0)
        for one, other in ((wanted, given), (wanted.tolist(), given.tolist())):
            assert accuracy(one, other) == pytest.approx(metrics.accuracy_score(wanted, given), abs=1e-12)
            assert macro_f1(one, other) == pytest.approx(f1, abs=1e-12)
            assert matthews(one, other) == pytest.approx(metrics.matthews_corrcoef(wanted, given), abs=1e-12)


def test_correlations_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for number in range(200):
        wanted = rng.normal(size=rng.integers(3, 50))
        given = wanted + rng.normal(size=len(wanted)) * 10.0 ** rng.integers(-3, 3)
        if number % 2:  # ties
            wanted, given = np.round(wanted, 1), np.round(given)
        if np.ptp(wanted) and np.ptp(given):
            assert pearson(wanted, given) == pytest.approx(stats.pearsonr(wanted, given)[0], abs=1e-12)
            assert spearman(wanted, given) == pytest.approx(stats.spearmanr(wanted, given)[0], abs=1e-12)


@pytest.mark.parametrize("score", [pearson, spearman])
def test_a_constant_answer_correlates_with_nothing(score):
    assert score([1.0, 2.0, 3.0], [0.1] * 3) == 0.0
    assert score([0.1] * 10, range(10)) == 0.0
    assert score([1.0], [2.0]) == 0.0


def test_very_large_and_very_small_numbers_correlate_too():
    assert pearson([1e300, 2e300, 3e300], [1e-300, 2e-300, 3e-300]) == pytest.approx(1.0)
    assert pearson([1, 2, 3], [3, 2, 1]) == -1.0


def test_many_answers_do_not_overflow():
    wanted = np.arange(200_000) % 2
    assert matthews(wanted, wanted) == pytest.approx(1.0)
    assert matthews(wanted, 1 - wanted) == pytest.approx(-1.0)


@pytest.mark.parametrize("score", ALL)
def test_rows_of_unequal_length_or_none_are_refused(score):
    with pytest.raises(Mistake, match="2 answers are wanted, 1 were given"):
        score([1, 2], [1])
    with pytest.raises(Mistake, match="nothing to score"):
        score([], [])


@pytest.mark.parametrize("score", [pearson, spearman])
def test_what_is_not_finite_is_refused(score):
    with pytest.raises(Mistake, match="Number 1 of what was given is nan"):
        score([1.0, 2.0], [1.0, float("nan")])
    with pytest.raises(Mistake, match="Number 0 of what was wanted is inf"):
        score([float("inf"), 2.0], [1.0, 2.0])


def test_words_and_numbers_can_be_labels_together():
    labels, matrix = confusion(["b", 1, "a"], ["b", "a", "a"])
    assert labels == [1, "a", "b"]
    assert matrix.tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 1]]


def plain(text):
    """SQuAD's normalisation, one step at a time."""
    text = "".join(ch for ch in text.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def plain_f1(wanted, given):
    one, other = plain(wanted).split(), plain(given).split()
    if not one or not other:
        return float(one == other)
    same = sum((Counter(one) & Counter(other)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(other), same / len(one)
    return 2 * precision * recall / (precision + recall)


def test_answers_are_scored_as_squad_scores_them():
    rng = random.Random(0)
    words = [
        "the",
        "The",
        "a",
        "an",
        "house",
        "House,",
        "red",
        "blue!",
        "(",
        "it's",
        "1990–91",
        "anthem",
        "off–the–cuff",
    ]

    def phrase():
        return " ".join(rng.choice(words) for _ in range(rng.randint(0, 5)))

    wanted = [[phrase() for _ in range(rng.randint(0, 3))] for _ in range(500)]
    given = [phrase() for _ in range(500)]
    kept = [[answer for answer in answers if plain(answer)] or [""] for answers in wanted]
    exact = [max(plain(one) == plain(answer) for one in own) for own, answer in zip(kept, given, strict=True)]
    f1 = [max(plain_f1(one, answer) for one in own) for own, answer in zip(kept, given, strict=True)]
    assert exact_match(wanted, given) == pytest.approx(sum(exact) / 500, abs=1e-12)
    assert answer_f1(wanted, given) == pytest.approx(sum(f1) / 500, abs=1e-12)
    assert 0 < sum(exact) < sum(f1) < 500


def test_a_question_without_answer_wants_none():
    assert exact_match([[], []], ["", "Paris"]) == 0.5
    assert answer_f1([[], []], ["", "Paris"]) == 0.5
    assert answer_f1([["Paris"]], [""]) == 0.0


@pytest.mark.parametrize("score", [exact_match, answer_f1])
def test_a_string_in_place_of_a_list_is_refused(score):
    with pytest.raises(Mistake, match=r"Write \['Paris'\]"):
        score(["Paris"], ["Paris"])
    with pytest.raises(Mistake, match="takes lists of answers"):
        score([["P"], ["a"]], "Pa")


def test_scores_do_without_torch():
    code = "import sys, polyseme.tasks.report, polyseme.tasks.scores; sys.exit('torch' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(Path(polyseme.__file__).parent.parent)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
