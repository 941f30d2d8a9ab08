import numpy as np
import pytest
from toys import questions, reviews, tagged

from polyseme.adapt.data import Data
from polyseme.comparison.measures import chosen, measures
from polyseme.comparison.statistics import resample
from polyseme.errors import Mistake
from polyseme.tasks import scores
from polyseme.tasks.tags import span_f1, to_iob2

DRAW = np.random.default_rng(0)


def classes(n=200):
    wanted = DRAW.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]).tolist()
    given = [one if DRAW.random() < 0.6 else str(DRAW.choice(["a", "b", "c"])) for one in wanted]
    return Data(["text"] * n, wanted), given


@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "matthews"])
def test_scores_of_classes_are_those_of_the_task(name):
    data, given = classes()
    measure = measures("classify", data.labels)[name]
    assert measure.score(data, given) == pytest.approx(getattr(scores, name)(data.labels, given))
    one_class = ["a"] * len(given)
    assert measure.score(data, one_class) == pytest.approx(getattr(scores, name)(data.labels, one_class))


@pytest.mark.parametrize("name", ["spearman", "pearson"])
def test_correlations_are_those_of_the_task(name):
    wanted = DRAW.integers(0, 6, 150).astype(float)
    given = wanted + DRAW.normal(0, 2, 150)
    data = Data(["text"] * 150, wanted.tolist())
    measure = measures("regress", data.labels)[name]
    assert measure.score(data, given.tolist()) == pytest.approx(getattr(scores, name)(wanted, given))
    assert measure.score(data, [3.0] * 150) == 0.0


def test_spans_of_tags_are_counted_as_the_task_does():
    data = tagged(40)
    given = [to_iob2(tags) for tags in data.labels]
    for tags in given[::3]:
        tags[0] = "O"
    known = measures("tag", data.labels)
    assert list(known) == ["span_f1", "accuracy"]
    assert known["span_f1"].score(data, given) == pytest.approx(span_f1(data.labels, given))
    assert known["accuracy"].score(data, given) == pytest.approx(1 - 14 / 240)
    words = Data([["a", "b"]], [["NOUN", "VERB"]])
    assert list(measures("tag", words.labels)) == ["accuracy"]


def test_sentences_without_words_make_no_score_that_is_no_number():
    data, given = Data([["a"], [], []], [["NOUN"], [], []]), [["NOUN"], [], []]
    measure = measures("tag", [["NOUN"], ["VERB"]])["accuracy"]
    assert measure.score(data, given) == 1.0
    assert np.isfinite(resample(measure.sums(data, given)[:, None], measure.combine)).all()


def test_answers_are_scored_as_the_task_does():
    data = questions(20)
    given = [(start, end) if place % 2 else (0, 2) for place, [(start, end)] in enumerate(data.labels)]
    strings = [context[start:end] for (_, context), (start, end) in zip(data.inputs, given, strict=True)]
    wanted = [[context[start:end]] for (_, context), [(start, end)] in zip(data.inputs, data.labels, strict=True)]
    known = measures("span", data.labels)
    assert known["f1"].score(data, given) == pytest.approx(scores.answer_f1(wanted, strings))
    assert known["exact_match"].score(data, given) == 0.5


@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "matthews"])
def test_a_resampled_score_is_the_score_of_the_resampled_examples(name):
    data, given = classes(50)
    measure = measures("classify", data.labels)[name]
    found = resample(measure.sums(data, given)[:, None], measure.combine, n_resamples=20, seed=1)[0]
    some = np.random.default_rng(1).integers(0, 50, (20, 50))
    again = [measure.score(data.take(places.tolist()), [given[place] for place in places]) for places in some]
    np.testing.assert_allclose(found, again)


def test_an_unknown_score_is_refused_with_the_known_ones():
    with pytest.raises(Mistake, match="Did you mean 'matthews'"):
        chosen("classify", reviews().labels, "mathews")
    assert chosen("classify", reviews().labels, None).name == "accuracy"
