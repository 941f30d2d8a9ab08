import numpy as np
import pytest
import torch
from rich.progress import Progress
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks as checks
from sklearn.utils.validation import check_is_fitted, validate_data
from toys import questions, reviews, tagged

import polyseme
from polyseme import samples
from polyseme.encoders import Pretrained
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.errors import Mistake
from polyseme.estimators import Embedder, PairClassifier, SpanFinder, TextClassifier, TextRegressor, TokenTagger
from polyseme.formats import save
from polyseme.text.bags import BagTokenizer


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


@pytest.mark.parametrize("classes", [(3, 7), (True, False), (9.0, 10.0), ("a", "b")])
def test_a_loaded_classifier_has_labels_of_their_type_and_can_be_fitted_again(classes, encoder, tmp_path):
    data = reviews()
    labels = [classes[label == "pos"] for label in data.labels]
    one = TextClassifier(encoder, **QUICK, tune="full", more={"block_decay": 0.5}).fit(data.inputs, labels)
    one.save(tmp_path / "fitted")
    again = TextClassifier.load(tmp_path / "fitted")
    assert again.classes_.tolist() == one.classes_.tolist() == sorted(classes)
    assert again.predict(data.inputs).tolist() == one.predict(data.inputs).tolist()
    assert again.score(data.inputs, labels) > 0.9
    assert again.more["block_decay"] == 0.5
    assert again.tune == "full"
    assert again.fit(data.inputs, labels).score(data.inputs, labels) > 0.9


def test_labels_of_several_types_are_one_and_what_is_no_class_is_refused(tiny_static):
    data, one = reviews(), TextClassifier(tiny_static, **QUICK)
    mixed = [0 if label == "pos" else 1.0 for label in data.labels]
    assert one.fit(data.inputs, mixed).predict(data.inputs[:2]).tolist() == mixed[:2]
    for wrong in (float("nan"), 0.7, None):
        with pytest.raises(Mistake, match="no classes"):
            one.fit(data.inputs, [wrong if label == "pos" else 1 for label in data.labels])
    for missing in (float("nan"), None, 1):
        for labels in ([missing, *data.labels[1:]], np.array([missing, *data.labels[1:]], object)):
            with pytest.raises(Mistake, match="no classes"):
                one.fit(data.inputs, labels)
    with pytest.raises(Mistake, match="label each"):
        one.fit(data.inputs, [[label, label] for label in data.labels])


@pytest.mark.parametrize("span", [(2, 99), (-2, 3), (2.0, 3.0), (3, 3)])
def test_an_answer_outside_its_context_is_refused(encoder, span):
    with pytest.raises(Mistake, match="its context has 5 characters"):
        SpanFinder(encoder, **QUICK).fit([("q", "a b c")] * 5, [[span]] * 5)


def test_predict_wants_what_fit_wanted(tiny_static):
    data = reviews(20)
    pairs = PairClassifier(tiny_static, **QUICK).fit([(text, "the film") for text in data.inputs], data.labels)
    texts = TextClassifier(tiny_static, **QUICK).fit(data.inputs, data.labels)
    for wrong in ("good film", "", ("a", "b", "c")):
        with pytest.raises(Mistake, match="wanted a pair"):
            pairs.predict([wrong])
    with pytest.raises(Mistake, match="wanted a text"):
        texts.predict([("good film", "bad")])
    assert texts.predict_proba([]).shape == (0, 2)


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


def test_blocks_that_begin_anew_are_not_those_of_the_given_encoder(tiny_bert):
    before = {name: tensor.clone() for name, tensor in tiny_bert.encoder.state_dict().items()}
    TextClassifier(tiny_bert, epochs=1, cache=False, more={"reinit": 1}).fit(reviews().inputs, reviews().labels)
    assert all((before[name] == tensor).all() for name, tensor in tiny_bert.encoder.state_dict().items())


def test_what_is_wrong_is_said(encoder):
    with pytest.raises(Mistake, match="one string was given"):
        TextClassifier(encoder).fit("a text", ["b"])
    with pytest.raises(Mistake, match="a table was given"):
        TextClassifier(encoder).fit(np.array([["a"], ["b"]]), ["x", "y"])
    with pytest.raises(Mistake, match=r"One of the tags is 0; wanted are strings"):
        TokenTagger(encoder).fit([["the", "film"]] * 5, [[0, 1]] * 5)
    with pytest.raises(NotFittedError):
        TokenTagger(encoder).predict([["a"]])
    with pytest.raises(Mistake, match="Give it as epochs="):
        TextClassifier(encoder, more={"epochs": 3}).fit(["a", "b"], ["x", "y"])
    with pytest.raises(Mistake, match="tune='none'"):
        TextClassifier(encoder, tune="none").fit(["a", "b"], ["x", "y"])
    with pytest.raises(AttributeError, match="There is no mix"):
        _ = TextClassifier(encoder, **QUICK).fit(reviews().inputs, reviews().labels).mix_weights_


def test_progress_is_told(encoder):
    heard = []
    TextClassifier(encoder, epochs=1, progress=heard.append).fit(reviews().inputs, reviews().labels)
    assert {report.stage for report in heard} == {"Encoding", "Fitting"}


@pytest.mark.parametrize("progress", [True, 1])
def test_a_bar_ends_with_the_fit_and_what_is_said_is_shown(progress, encoder, capsys, monkeypatch):
    monkeypatch.setattr("polyseme.adapt.store._WORTH_SAYING", 0)
    TextClassifier(encoder, epochs=1, progress=progress).fit(reviews().inputs, reviews().labels)
    assert "will be kept in" in capsys.readouterr().out
    with Progress():  # two at once are an error
        pass


NEED_NO_DATA = [
    checks.check_estimator_cloneable, checks.check_get_params_invariance, checks.check_set_params,
    checks.check_parameters_default_constructible, checks.check_no_attributes_set_in_init, checks.check_estimator_repr,
    checks.check_do_not_raise_errors_in_init_or_set_params, checks.check_estimator_tags_renamed,
    checks.check_valid_tag_types, checks.check_mixin_order, checks.check_estimators_unfitted,
]  # fmt: skip


@pytest.mark.parametrize("kind", [TextClassifier, PairClassifier, TextRegressor, TokenTagger, SpanFinder, Embedder])
@pytest.mark.parametrize("check", NEED_NO_DATA, ids=lambda check: check.__name__)
def test_scikit_learns_checks_that_need_no_data_pass(check, kind, encoder):
    check(kind.__name__, kind(encoder))


class FromNumbers:
    """Rows of numbers as texts: scikit-learn's checks bring such rows, and see here what becomes of them and of y."""

    def fit(self, X, y=None):
        X, y = validate_data(self, X, y) if y is not None or self.needs_y else (validate_data(self, X), None)
        return super().fit(in_words(X), y)

    def predict(self, X):
        return super().predict(self._again(X))

    def _again(self, X):
        check_is_fitted(self)
        return in_words(validate_data(self, X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = False, True
        for kind in filter(None, (tags.classifier_tags, tags.regressor_tags)):
            kind.poor_score = True  # rounded numbers, read twice: that it learns from texts is tested above
        return tags


class Classifier(FromNumbers, TextClassifier):
    needs_y = True

    def predict_proba(self, X):
        return super().predict_proba(self._again(X))


class Regressor(FromNumbers, TextRegressor):
    needs_y = True


class Transformer(FromNumbers, Embedder):
    needs_y = False
    predict = property()

    def transform(self, X):
        return super().transform(self._again(X))


def in_words(rows):
    return [[f"{'abcdefghij'[column % 10]}{round(min(9, max(-9, value)))}" for column, value in enumerate(row)]
            for row in np.asarray(rows, float).tolist()]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [Classifier, Regressor, Transformer])
def test_all_of_scikit_learns_checks_pass_on_rows_that_are_made_texts(kind, tmp_path):
    """Of those that are skipped one wants pandas, one an environment variable."""
    torch.manual_seed(0)
    words = tuple(f"{column}{value}" for column in "abcdefghij" for value in range(-9, 10))
    static = StaticEncoder(StaticConfig(n_rows=len(words), width=16))
    torch.nn.init.normal_(static.table.weight)
    save(Pretrained(BagTokenizer(words, None, False), static.eval()), tmp_path / "encoder")
    quick = {} if kind is Transformer else {"epochs": 2, "head_rate": 0.3, "cache": False}
    rounded = {"check_methods_subset_invariance": "in float32 a row's last digit depends on how many it is read with"}
    found = checks.check_estimator(
        kind(tmp_path / "encoder", **quick), expected_failed_checks=rounded, on_fail=None, on_skip=None
    )
    assert not [(one["check_name"], one["exception"]) for one in found if one["status"] == "failed"]
    assert sum(one["status"] == "passed" for one in found) > 35


def test_a_rare_class_does_not_make_a_head_worse_than_the_frequent_one_alone():
    """Rows of mean 0 leave how frequent a class is to the bias, which began at 0 and did not get there."""
    texts = [line.split(",")[0] for line in samples.opinions("train").read_text("utf-8").splitlines()[1:301]]
    labels = ["rare" if number % 33 == 0 else "frequent" for number in range(300)]  # nothing in the texts tells
    found = TextClassifier("static-starter").fit(texts[:200], labels[:200])
    assert found.score(texts[200:], labels[200:]) > 0.9


def test_an_embedders_columns_have_names(encoder):
    found = Embedder(encoder).fit(["a film"])
    assert len(found.get_feature_names_out()) == found.transform(["a film"]).shape[1]
    assert found.get_feature_names_out()[0] == "embedder0"
