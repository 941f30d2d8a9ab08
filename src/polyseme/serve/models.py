"""The models that are served, by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from polyseme.adapt.fitted import Fitted
from polyseme.adapt.folder import is_fitted, load_fitted
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake, did_you_mean, listed
from polyseme.formats import load
from polyseme.layers.products import Precision
from polyseme.serve.batcher import Work
from polyseme.serve.refusals import Refusal
from polyseme.serve.works import predictions
from polyseme.text.wordpiece import WordPiece


@dataclass(frozen=True)
class Sentences:
    """How a model makes one vector of a text."""

    pooling: Literal["mean", "cls", "words"]  # over pieces, by its [CLS], or over words
    window: int | None  # pieces that are read; None where a text may have any length
    prompts: dict[str, str] = field(default_factory=dict)
    default_prompt: str | None = None
    pools_prompt: bool = True  # whether a prompt is pooled over like the text behind it
    problem: str | None = None  # why it cannot, where it cannot


@dataclass(frozen=True, eq=False)
class Model:
    """An encoder, and what is fitted on it where there is something."""

    name: str
    pretrained: Pretrained
    fitted: Fitted | None = None
    task: str | None = None
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def width(self) -> int:
        return self.pretrained.encoder.widths[-1]

    @cached_property
    def sentences(self) -> Sentences:
        return _sentences(self.pretrained)

    def reading(self, run: Callable[..., list[Any]], *options: Any) -> Work:
        """Work of works.py that the encoder does."""
        return self._work((run.__name__, *options), partial(run, self.pretrained, *options))

    def predicting(self, run: Callable[..., list[Any]] = predictions, *options: Any) -> Work:
        """Work that the fitted model does."""
        assert self.fitted is not None
        return self._work((run.__name__, *options), partial(run, self.fitted, *options))

    def _work(self, key: tuple[Any, ...], run: Callable[..., list[Any]]) -> Work:
        encoder = self.pretrained.encoder
        return Work((self.name, *key), run, encoder.budget, not encoder.small)


@dataclass(frozen=True)
class Models:
    """All of them, in the order they were named: the first that can do a thing does it where none is asked for."""

    all: dict[str, Model]

    def __iter__(self) -> Iterator[Model]:
        return iter(self.all.values())

    def find(self, name: str | None, can: Callable[[Model], bool], lack: str) -> Model:
        """The model of this name, or the first that can; `lack` says what those are that cannot."""
        for model in [self.named(name)] if name is not None else self:
            if can(model):
                return model
        which = f"The model {name!r} is" if name is not None else f"The models here ({listed(self.all)}) are"
        raise Refusal(424, f"{which} {lack}. Ask another one, or serve one that can: polyseme serve MODEL MODEL")

    def any(self, name: str | None) -> Model:
        """The model of this name, or the first."""
        return next(iter(self)) if name is None else self.named(name)

    def named(self, name: str) -> Model:
        if name not in self.all:
            near = did_you_mean(name[:200], self.all)
            message = f"The model {name[:200]!r} is not served here; wanted one of: {listed(self.all)}.{near}"
            raise Refusal(404, message, code="model_not_found", param="model")
        return self.all[name]


def load_models(names: Iterable[str], precision: Precision = "float32") -> Models:
    """From paths, or NAME=PATH; a path's last part is the name otherwise. The precision is of those that have one."""
    found: dict[str, Model] = {}
    for given in names:
        model = _load(given)
        if model.name in found:
            raise Mistake(f"Two models are named {model.name!r}. Name them apart: first=PATH second=PATH.")
        found[model.name] = model
    if not found:
        raise Mistake("There is no model to serve. Name a file or folder: polyseme serve MODEL")
    able = [model for model in found.values() if model.pretrained.encoder.precision is not None]
    for model in able or found.values():
        model.pretrained.compute_in(precision)
    return Models(found)


def _load(given: str) -> Model:
    name, equals, path = given.partition("=")
    if not equals or Path(given).exists():
        name, path = "", given
    place = Path(path).resolve()
    name = name or (place.parent.name if place.name == "fitted" else place.name)
    if is_fitted(place):
        fitted, task = load_fitted(place)
        return Model(name, _resting(fitted.pretrained), fitted, task)
    return Model(name, _resting(load(path)))


def _resting(pretrained: Pretrained) -> Pretrained:
    """In eval mode and without gradients: threads share it."""
    for module in (pretrained.encoder, pretrained.lm):
        if module is not None:
            module.eval().requires_grad_(False)
    return pretrained


def _sentences(pretrained: Pretrained) -> Sentences:
    tokenizer = pretrained.tokenizer
    if not isinstance(tokenizer, WordPiece):
        return Sentences("words", None)
    said = pretrained.provenance.get("sentence", {})
    window = min(said.get("max_pieces", tokenizer.window), tokenizer.window)
    prompts, default = said.get("prompts", {}), said.get("default_prompt")
    pooling = said.get("pooling", "mean")
    pools_prompt = said.get("include_prompt") is not False
    if pooling not in ("mean", "cls") or said.get("other_modules"):
        problem = f"a model that makes sentence vectors by {said}; only the poolings mean and cls are known here"
        return Sentences("mean", window, prompts, default, pools_prompt, problem)
    return Sentences(pooling, window, prompts, default, pools_prompt)
