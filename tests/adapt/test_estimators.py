import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from toys import questions, reviews, tagged

import polyseme
from polyseme.errors import Mistake
from polyseme.estimators import Embedder, PairClassifier, SpanFinder, TextClassifier, TextRegressor, TokenTagger
from polyseme.formats import save


@pytest.fixture
def encoder(tiny_static, tmp_path):
    save(tiny_static, tmp_path / "encoder")
    return tmp_path / "encoder"


QUICK = {"epochs": 15, "head_rate": 0.03}


def test_a_classifier_keeps_the_labels_as_they_were_given(encoder):
    data = reviews()
    labels = np.array([3 if label == "pos" else 7 for label in data.labels])
    one = TextClassifier(encoder, **QUICK).fit(data.inputs, labels)
    assert one.classes_.tolist() == [3, 7]
    assert one.predict(data.inputs[:4]).tolist() == labels[:4].tolist()
    chances = one.predict_proba(data.inputs)
    np.testing.assert_allclose(chances.sum(1), 1, atol=1e-6)
    assert (one.classes_[chances.argmax(1)] == one.predict(data.inputs)).all()
    assert one.score(data.inputs, labels) > 0.9


def test_a_saved_estimator_is_loaded_with_what_it_learned(encoder, tmp_path):
    data = reviews()
    one = TextClassifier(encoder, layers="mix", **QUICK).fit(data.inputs, data.labels)
    one.save(tmp_path / "fitted")
    again = TextClassifier.load(tmp_path / "fitted")
    assert (again.predict(data.inputs) == one.predict(data.inputs)).all()
    assert again.mix_weights_.tolist() == one.mix_weights_.tolist() == [1.0]
    assert again.gamma_ == one.gamma_ != 1.0
    with pytest.raises(Mistake, match="fitted to the task 'classify'"):
        TokenTagger.load(tmp_path / "fitted")


def test_clone_search_and_cross_validation_work_on_texts(encoder):
    data = reviews(60)
    one = TextClassifier(encoder, **QUICK)
    assert clone(one).get_params() == one.get_params()
    assert cross_val_score(one, data.inputs, data.labels, cv=3).mean() > 0.8
    search = GridSearchCV(one, {"layers": ["top", "mix"], "epochs": [1, 15]}, cv=2).fit(data.inputs, data.labels)
    assert search.best_params_["epochs"] == 15


def test_vectors_go_into_any_pipeline(encoder):
    data = reviews()
    pipeline = make_pipeline(Embedder(encoder), LogisticRegression())
    assert cross_val_score(pipeline, data.inputs, data.labels, cv=3).mean() > 0.9
    vectors = Embedder(encoder).fit_transform(data.inputs[:3])
    np.testing.assert_allclose(vectors, polyseme.load(encoder).embed(data.inputs[:3], level="text"))


def test_pairs_numbers_tags_and_answers_have_their_estimators(encoder):
    data = reviews()
    pairs = [(text, "the film") for text in data.inputs]
    assert PairClassifier(encoder, **QUICK).fit(pairs, data.labels).score(pairs, data.labels) > 0.9
    numbers = [float(label == "pos") for label in data.labels]
    assert TextRegressor(encoder, **QUICK).fit(data.inputs, numbers).score(data.inputs, numbers) > 0.5
    words = tagged()
    assert TokenTagger(encoder, **QUICK).fit(words.inputs, words.labels).score(words.inputs, words.labels) > 0.9
    asked = questions()
    finder = SpanFinder(encoder, **QUICK).fit(asked.inputs, asked.labels)
    assert finder.score(asked.inputs, asked.labels) > 0.5
    start, end = finder.predict(asked.inputs[:1])[0]
    assert 0 <= start < end


def test_the_encoder_that_is_given_is_not_changed(tiny_static):
    before = tiny_static.encoder.table.weight.clone()
    TextClassifier(tiny_static, tune="full", epochs=1).fit(reviews().inputs, reviews().labels)
    assert (before == tiny_static.encoder.table.weight).all()


def test_what_is_wrong_is_said(encoder):
    with pytest.raises(Mistake, match="needs an encoder"):
        TextClassifier().fit(["a"], ["b"])
    with pytest.raises(Mistake, match="one string was given"):
        TextClassifier(encoder).fit("a text", ["b"])
    with pytest.raises(NotFittedError):
        TokenTagger(encoder).predict([["a"]])
    with pytest.raises(Mistake, match="tune='none'"):
        TextClassifier(encoder, tune="none").fit(["a", "b"], ["x", "y"])
    with pytest.raises(AttributeError, match="There is no mix"):
        _ = TextClassifier(encoder, **QUICK).fit(reviews().inputs, reviews().labels).mix_weights_


def test_progress_is_told(encoder):
    heard = []
    TextClassifier(encoder, epochs=1, progress=heard.append).fit(reviews().inputs, reviews().labels)
    assert {report.stage for report in heard} == {"Encoding", "Fitting"}
    TextClassifier(encoder, epochs=1, progress=True).fit(reviews().inputs, reviews().labels)


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.parametrize("kind", [TextClassifier, PairClassifier, TextRegressor, TokenTagger, SpanFinder, Embedder])
def test_scikit_learns_own_checks_pass(kind, encoder):
    check_estimator(kind(encoder))
