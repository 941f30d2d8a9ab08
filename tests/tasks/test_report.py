import random

import numpy as np
import pytest
from sklearn import metrics

from polyseme.tasks.report import report, span_report
from polyseme.tasks.scores import accuracy, macro_f1
from polyseme.tasks.tags import span_f1, to_iob2


def some(n_classes, n=300):
    rng = np.random.default_rng(n_classes)
    wanted = rng.integers(0, n_classes, n)
    return wanted, np.where(rng.random(n) < 0.6, wanted, rng.integers(0, n_classes + 1, n))


@pytest.mark.parametrize("n_classes", [1, 2, 5, 30])
def test_every_class_has_the_scores_of_scikit_learn(n_classes):
    wanted, given = some(n_classes)
    found = report(wanted, given)
    columns = metrics.precision_recall_fscore_support(wanted, given, zero_division=0)
    for ours, theirs in zip(list(zip(*found.classes, strict=True))[1:], columns, strict=True):
        assert np.allclose(ours, theirs, atol=1e-12)
    assert np.array_equal(found.matrix, metrics.confusion_matrix(wanted, given))
    assert found.accuracy == pytest.approx(accuracy(wanted, given))
    assert found.macro_f1 == pytest.approx(macro_f1(wanted, given))


def test_a_class_never_given_has_no_precision_rather_than_nan():
    cat, dog = report(["cat", "dog"], ["dog", "dog"]).classes
    assert cat == ("cat", 0.0, 0.0, 0.0, 1)
    assert dog == ("dog", 0.5, 1.0, pytest.approx(2 / 3), 1)


def test_a_class_given_but_never_wanted_has_a_line():
    assert [score.support for score in report(["a", "a"], ["a", "b"]).classes] == [2, 0]


def test_with_few_classes_the_text_shows_the_matrix():
    lines = report(*some(3)).text().splitlines()
    assert [line.split()[0] for line in lines[1:7]] == ["0", "1", "2", "3", "macro", "accuracy"]
    assert lines[8].split() == ["wanted", "\\", "given", "0", "1", "2", "3"]
    assert len(lines) == 13


def test_with_many_classes_the_text_names_what_is_mixed_up_most():
    wanted, given = ["w"] * 7 + list("abcdefghijkl"), ["x"] * 7 + list("abcdefghijkm")
    text = report(wanted, given).text()
    tail = [line.split() for line in text.split("\n\n")[1].splitlines()]
    assert tail == [["wanted", "given", "times"], ["w", "x", "7"], ["l", "m", "1"]]
    assert max(map(len, text.splitlines())) < 80


def test_spans_are_scored_type_by_type_as_seqeval_does():
    from seqeval.metrics import classification_report

    draw = random.Random(0)
    tags = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    wanted, given = ([to_iob2(draw.choices(tags, k=12)) for _ in range(200)] for _ in range(2))
    given = [
        [one if draw.random() < 0.7 else other for one, other in zip(*pair, strict=True)]
        for pair in zip(wanted, given, strict=True)
    ]
    found, theirs = span_report(wanted, given), classification_report(wanted, given, output_dict=True)
    for one in (*found.classes, found.all):
        name = "micro avg" if one.label == "all spans" else one.label
        ours = {"precision": one.precision, "recall": one.recall, "f1-score": one.f1, "support": one.support}
        assert theirs[name] == pytest.approx(ours)
    assert found.all.f1 == pytest.approx(span_f1(wanted, given))


def test_without_a_span_there_is_a_line_of_zeros():
    assert span_report([["O"]], [["O"]]).all == ("all spans", 0, 0, 0, 0)
