"""Adapted encoders with scikit-learn's contract: fit, predict, score, and a place in pipelines and searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from polyseme.adapt import folder
from polyseme.adapt.classes import Classes
from polyseme.adapt.data import Data
from polyseme.adapt.fit import fit
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.settings import Settings, settings
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake, listed
from polyseme.formats import load
from polyseme.train.report import Report

Array = NDArray[Any]
Progress = bool | Callable[[Report], None]  # True for a bar, or whoever wants to hear


class Adapts(BaseEstimator):  # type: ignore[misc]
    """What all of them have: an encoder, what is read of it, and how much of it learns."""

    task: ClassVar[str]

    def __init__(
        self,
        encoder: str | Path | Pretrained = "bert-starter",
        *,
        layers: str | int = "top",
        tune: str = "frozen",
        head: str | None = None,
        pool: str | None = None,
        pairs: str | None = None,
        crf: bool = False,
        epochs: int | None = None,
        batch_size: int = 32,
        rate: float | None = None,
        head_rate: float | None = None,
        valid: float = 0.1,
        patience: int | None = None,
        seed: int = 0,
        cache: bool = True,
        progress: Progress = False,
        more: dict[str, Any] | None = None,
    ) -> None:
        """What is None is chosen to suit the encoder, the task and the number of examples.

        encoder: a name, a path or a Pretrained.
        layers: what the head reads: "top", "mix" (a learned weighted sum of all), "last4" or a layer's number.
        tune: what learns: "frozen" (the head alone), "full" or "gradual" (one more block each epoch).
        head: "linear", "bilstm", or "ulmfit" for whole texts.
        pool: how words become a text: "mean", "concat", "first" or "pooler".
        pairs: two texts "joined" in one sequence, as BERT reads them, or "apart".
        crf: a CRF over the tags of a sentence.
        epochs, batch_size: times through the examples; examples a step.
        rate, head_rate: the learning rates of the encoder's top block and of the head.
        valid: the part of the examples that is held out to measure epochs (at most 2,000; none of fewer than 100).
        patience: stop after so many epochs without gain.
        seed: of everything random.
        cache: keep a frozen encoder's rows on disk, where later fits find them.
        progress: True for a bar, or a function that hears each Report.
        more: rarer settings by name, such as {"average": 0.3}; docs/adapting.md has them all.
        """
        self.encoder = encoder
        self.layers = layers
        self.tune = tune
        self.head = head
        self.pool = pool
        self.pairs = pairs
        self.crf = crf
        self.epochs = epochs
        self.batch_size = batch_size
        self.rate = rate
        self.head_rate = head_rate
        self.valid = valid
        self.patience = patience
        self.seed = seed
        self.cache = cache
        self.progress = progress
        self.more = more  # other settings by name

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> Self:
        """Learn from examples and their labels."""
        data, chosen = Data(_listed(X), self._labels(y)), self._settings()
        with _watching(self.progress) as tell:
            self.fitted_ = fit(self._pretrained(chosen), self.task, data, chosen, tell=tell)
        return self

    @property
    def mix_weights_(self) -> Array:
        """The share of each layer in the learned mix, bottom first."""
        weights: Array = self._mix().weights.detach().numpy()
        return weights

    @property
    def gamma_(self) -> float:
        """What the learned mix is scaled by."""
        gamma: float = self._mix().gamma.item()
        return gamma

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the fitted model as a folder."""
        folder.save(self._fitted(), Path(path), self.task, force)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The estimator whose fitted model is in a folder."""
        fitted, task = folder.load_fitted(path)
        if task != cls.task:
            raise Mistake(f"{path} is fitted to the task {task!r}; {cls.__name__} is for {cls.task!r}.")
        known, values = set(cls._get_param_names()), fitted.settings.model_dump(exclude_defaults=True)
        more = {name: values.pop(name) for name in values.keys() - known}
        one = cls(
            folder.fitted_path(Path(path)) / "model", **{"tune": fitted.settings.tune, **values}, more=more or None
        )
        one.fitted_ = fitted
        one._loaded()
        return one

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def _settings(self) -> Settings:
        values, more = self.get_params(deep=False), self.more or {}
        if twice := sorted(values.keys() & more.keys()):
            raise Mistake(f"more={more} has {listed(twice)}, an argument of its own. Give it as {twice[0]}=….")
        outside = {"encoder", "progress", "more"}
        return settings(**{name: value for name, value in values.items() if name not in outside}, **more)

    def _pretrained(self, chosen: Settings) -> Pretrained:
        if isinstance(self.encoder, Pretrained):
            return deepcopy(self.encoder) if chosen.changes_encoder else self.encoder  # theirs is not changed
        return load(self.encoder)

    def _labels(self, y: Sequence[Any]) -> list[Any]:
        return _listed(y)

    def _loaded(self) -> None:
        """Set what fit() would have set beside the model."""

    def _fitted(self) -> Fitted:
        check_is_fitted(self, "fitted_")
        fitted: Fitted = self.fitted_
        return fitted

    def _mix(self) -> Any:
        mix = self._fitted().top.mix
        if mix is None:
            raise AttributeError("There is no mix: it was fitted with layers other than 'mix'.")
        return mix

    def _said(self, X: Sequence[Any]) -> list[Any]:
        return [one.label for one in self._fitted().stream(_listed(X))]


class TextClassifier(ClassifierMixin, Adapts):  # type: ignore[misc]
    """A class for each text. A text is a string, or the list of its words."""

    task = "classify"

    def predict(self, X: Sequence[Any]) -> Array:
        said = self._said(X)
        places = {str(label): place for place, label in enumerate(self.classes_.tolist())}
        return self.classes_[[places[label] for label in said]]

    def predict_proba(self, X: Sequence[Any]) -> Array:
        """(texts, classes) in the order of classes_."""
        said = self._fitted().predict(_listed(X))
        names = [str(label) for label in self.classes_.tolist()]
        return np.array([[(one.scores or {})[name] for name in names] for one in said]).reshape(len(said), len(names))

    def _labels(self, y: Sequence[Any]) -> list[Any]:
        """All of one type, as classes_ has them."""
        self.classes_, places = _classes(y)
        labels: list[Any] = self.classes_[places].tolist()
        return labels

    def _loaded(self) -> None:
        kind = self._fitted().kind
        assert isinstance(kind, Classes)
        self.classes_ = np.unique(kind.labels)


class PairClassifier(TextClassifier):
    """A class for each pair of texts, given as a tuple of two."""

    task = "pair"


class TextRegressor(RegressorMixin, Adapts):  # type: ignore[misc]
    """A number for each text, or for each tuple of two texts."""

    task = "regress"

    def predict(self, X: Sequence[Any]) -> Array:
        return np.array(self._said(X), np.float64)


class TokenTagger(Adapts):
    """A tag for each word; a text is the list of its words. Tags of spans are given as IOB2."""

    task = "tag"

    def predict(self, X: Sequence[Any]) -> list[list[str]]:
        return self._said(X)

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """The F1 of spans, or the accuracy of tags that mark none."""
        return next(iter(self._fitted().evaluate(Data(_listed(X), _listed(y))).values()))


class SpanFinder(Adapts):
    """The span of characters in a context that answers a question; an input is (question, context).

    A label is a list of spans that answer it, each (start, end); the first is learned, any is right.
    """

    task = "span"

    def predict(self, X: Sequence[Any]) -> list[tuple[int, int]]:
        return self._said(X)

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """The F1 of the words of answers, as SQuAD has it."""
        return next(iter(self._fitted().evaluate(Data(_listed(X), _listed(y))).values()))


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Texts to vectors, one a text, for any estimator behind it in a pipeline."""

    def __init__(self, encoder: str | Path | Pretrained = "bert-starter", *, layers: str | int = "top") -> None:
        self.encoder = encoder
        self.layers = layers

    def fit(self, X: Sequence[Any], y: Any = None) -> Self:
        """Nothing is learned; the encoder is loaded."""
        self.pretrained_ = self.encoder if isinstance(self.encoder, Pretrained) else load(self.encoder)
        self._n_features_out = self._vectors([]).shape[1]  # scikit-learn asks for it by this name
        return self

    def transform(self, X: Sequence[Any]) -> Array:
        """(texts, width), the mean over each text's words."""
        check_is_fitted(self, "pretrained_")
        return self._vectors(_listed(X))

    def _vectors(self, texts: list[Any]) -> Array:
        return np.asarray(self.pretrained_.embed(texts, layers=self.layers, level="text"))  # type: ignore[arg-type]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def _listed(values: Any) -> list[Any]:
    """A list from a list, an array or a column of a table."""
    if isinstance(values, str):
        raise Mistake("A list is wanted; one string was given. Write [text].")
    if hasattr(values, "columns") or getattr(values, "shape", (0,))[1:] == (1,):
        raise Mistake("A column of texts is wanted; a table was given. Write X[:, 0], or table['text'].")
    if isinstance(values, np.ndarray):
        listed: list[Any] = values.tolist()
        return listed
    return list(values)


def _classes(y: Any) -> tuple[Array, Array]:
    """The classes in order, and the place of each label among them."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise Mistake(f"Labels have the shape {labels.shape}. Give a label each.")
    if labels.dtype.kind == "U" and not all(isinstance(label, str) for label in y):
        labels = np.array(list(y), dtype=object)  # numpy made strings of what is none: of 1, and of what is missing
    try:
        check_classification_targets(labels)
        return np.unique(labels, return_inverse=True)
    except (TypeError, ValueError) as error:  # of several types, NaN, or numbers on a scale
        why = str(error).rstrip(".")
        raise Mistake(f"These labels are no classes: {why}. Make all of them strings.") from None


@contextmanager
def _watching(progress: Progress) -> Iterator[Callable[[Report], None]]:
    """A bar on a terminal for progress=True, silence for False, or the function that was given."""
    if callable(progress) or not progress:
        yield progress if callable(progress) else lambda report: None
        return
    from rich.progress import Progress as Bars

    tasks: dict[str, Any] = {}
    with Bars(transient=True) as bars:

        def tell(report: Report) -> None:
            if report.said:
                bars.console.print(report.said, highlight=False, markup=False)
                return
            if report.stage not in tasks:
                tasks[report.stage] = bars.add_task(report.stage)
            text = f"{report.stage} {report.note}"
            bars.update(tasks[report.stage], completed=report.done, total=report.total, description=text)

        yield tell
