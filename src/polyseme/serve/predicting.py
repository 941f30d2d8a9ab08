"""What fitted models say, for every protocol that asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastapi import Request

from polyseme.adapt.classes import Classes
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.inputs import Inputs
from polyseme.adapt.numbers import Numbers
from polyseme.serve.batcher import Work
from polyseme.serve.examples import examples
from polyseme.serve.models import Model
from polyseme.serve.refusals import Refusal
from polyseme.serve.service import Service, Words, length
from polyseme.text.wordpiece import WordPiece

CLASSIFYING = ("classify", "pair", "regress")

_ANY = 1 << 40  # a window that holds every pair


async def predict(
    service: Service,
    request: Request,
    model: Model,
    given: Sequence[Any],
    work: Work | None = None,
    cut: bool | None = None,
) -> list[Any]:
    """A Prediction an input: a text, a list of words, or a tuple of two; or what another work makes of it.

    `cut` is whether a text that is longer than the model reads is cut off; None: as the server is told.
    """
    service.check_count(len(given))
    n_characters = service.check_lengths([length(text) for one in given for text in _texts(one)])
    fitted = model.fitted
    assert fitted is not None
    _check_kind(model, fitted, given)
    service.check_numbers(n_chances(model, len(given)))
    cut = service.limits.cut_long if cut is None else cut
    inputs = await service.prepared(request, n_characters, lambda: _inputs(model, fitted, given, cut))
    sizes = inputs.lengths.tolist()
    service.check_sizes(sizes)
    return await service.results(request, work or model.predicting(), examples(inputs, given), sizes)


def n_chances(model: Model, n_inputs: int) -> int:
    """How many numbers a model says of so many inputs."""
    return n_inputs * max(1, len(labels_of(model)))


def labels_of(model: Model) -> list[str]:
    """The classes of a model that has them."""
    kind = model.fitted.kind if model.fitted else None
    return list(kind.names) if isinstance(kind, Classes) else []


def reads_pairs(model: Model) -> bool:
    kind = model.fitted.kind if model.fitted else None
    return isinstance(kind, Classes | Numbers) and kind.texts.pairs is not None


def _texts(one: Any) -> Sequence[Words]:
    return one if isinstance(one, tuple) else [one]


def _inputs(model: Model, fitted: Fitted, given: Sequence[Any], cut: bool) -> Inputs:
    inputs: Inputs = fitted.kind.inputs(fitted.pretrained, given, fitted.settings)
    if not cut:
        sizes = zip(_whole(fitted, given).lengths.tolist(), inputs.lengths.tolist(), strict=True)
        for place, (size, read) in enumerate(sizes):
            if size > read:
                raise Refusal(413, f"Input {place} is longer than {model.name} reads. Send truncate=true.")
    return inputs


def _whole(fitted: Fitted, given: Sequence[Any]) -> Inputs:
    """The same inputs with nothing cut off."""
    pretrained, tokenizer = fitted.pretrained, fitted.pretrained.tokenizer
    if fitted.kind.facts().get("pairs") == "joined" and isinstance(tokenizer, WordPiece):
        pretrained = replace(pretrained, tokenizer=tokenizer.with_window(_ANY))
    return fitted.kind.inputs(pretrained, given, fitted.settings.model_copy(update={"most_windows": None}))


def _check_kind(model: Model, fitted: Fitted, given: Sequence[Any]) -> None:
    """Single texts where single texts are read, pairs where pairs are."""
    if not isinstance(fitted.kind, Classes | Numbers):
        return
    paired = reads_pairs(model)
    for place, one in enumerate(given):
        if isinstance(one, tuple) != paired:
            wanted = "two texts, [first, second]" if paired else "one text"
            raise Refusal(422, f"Input {place} is not what {model.name} was fitted to; it wants {wanted}.")
