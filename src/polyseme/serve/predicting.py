"""What fitted models say, for every protocol that asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from polyseme.serve.service import Service

CLASSIFYING = ("classify", "pair", "regress")


async def predict(
    service: Service, request: Request, model: Model, given: Sequence[Any], work: Work | None = None
) -> list[Any]:
    """A Prediction an input: a text, a list of words, or a tuple of two; or what another work makes of it."""
    texts = [text for one in given for text in _texts(one)]
    service.check_count(len(given))
    service.check_lengths(texts)
    fitted = model.fitted
    assert fitted is not None
    _check_kind(model, fitted, given)
    inputs: Inputs = await service.prepared(
        texts, lambda: fitted.kind.inputs(fitted.pretrained, given, fitted.settings)
    )
    sizes = inputs.lengths.tolist()
    service.check_sizes(sizes)
    return await service.results(request, work or model.predicting(), examples(inputs, given), sizes)


def labels_of(model: Model) -> list[str]:
    """The classes of a model that has them."""
    kind = model.fitted.kind if model.fitted else None
    return list(kind.names) if isinstance(kind, Classes) else []


def reads_pairs(model: Model) -> bool:
    kind = model.fitted.kind if model.fitted else None
    return isinstance(kind, Classes | Numbers) and kind.texts.pairs is not None


def _texts(one: Any) -> Iterator[str]:
    if isinstance(one, str):
        yield one
    else:
        for part in one:
            yield from _texts(part)


def _check_kind(model: Model, fitted: Fitted, given: Sequence[Any]) -> None:
    """Single texts where single texts are read, pairs where pairs are."""
    if not isinstance(fitted.kind, Classes | Numbers):
        return
    paired = reads_pairs(model)
    for place, one in enumerate(given):
        if isinstance(one, tuple) != paired:
            wanted = "two texts, [first, second]" if paired else "one text"
            raise Refusal(422, f"Input {place} is not what {model.name} was fitted to; it wants {wanted}.")
