"""Looking inside fitted models: their mix of layers, replaced by another, and what each word contributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, FiniteFloat

from polyseme.serve import inside
from polyseme.serve.bodies import JsonRoute
from polyseme.serve.models import Model
from polyseme.serve.predicting import CLASSIFYING, labels_of, predict, reads_pairs
from polyseme.serve.refusals import PROBLEMS, Refusal
from polyseme.serve.replies import shown, value, values
from polyseme.serve.service import Service
from polyseme.text.words import to_text
from polyseme.types import Prediction, Text

_MOST = 1e6  # a weight beyond it is a slip of the hand

Weights = Annotated[list[Annotated[FiniteFloat, Field(ge=0, le=_MOST)]], Field(min_length=1, fail_fast=True)]


class FittedModel(BaseModel):
    """A fitted model, and its mix where it has one: how much of each layer, 1 in all, and the factor of the whole."""

    name: str
    task: str
    labels: list[str]
    pairs: bool
    layers: list[int]  # those it reads
    weights: list[float] | None
    gamma: float | None


class Looking(BaseModel):
    """What there is to look into."""

    models: list[FittedModel]
    report: bool  # whether a comparison is at /report


class TextRequest(BaseModel):
    """A text, or two where pairs are read."""

    text: str
    second: str | None = None
    model: str | None = None


class LayersRequest(TextRequest):
    """Another mix: a weight a layer, which are scaled to 1 in all, and gamma."""

    weights: Weights
    gamma: Annotated[FiniteFloat, Field(ge=-_MOST, le=_MOST)] = 1.0


class Said(BaseModel):
    """A class, a number, or a tag a word; chances where there are classes."""

    label: str | float | list[str]
    scores: dict[str, float] | None
    words: list[str]


class WordsGiven(BaseModel):
    """The words of a text; leaving out word j lowers the score by falls[j].

    Of tags, falls[j][i] is how much the chance of word i's tag falls, None for j itself.
    """

    words: list[str]
    spans: list[tuple[int, int]]
    falls: list[float] | list[list[float | None]]


class Contributions(BaseModel):
    """What is said, and what it owes to each word."""

    label: str | float | list[str]
    scores: dict[str, float] | None
    chances: list[float] | None  # of each word's tag
    texts: list[WordsGiven]


def routes(service: Service, report: bool = False) -> APIRouter:
    router = APIRouter(route_class=JsonRoute, tags=["polyseme"], responses=PROBLEMS)

    @router.get("/looking", responses={200: {"model": Looking}})
    async def looking() -> Response:
        fitted = [_facts(model) for model in service.models if model.fitted]
        return value({"models": fitted, "report": report})

    @router.post("/layers", responses={200: {"model": Said}})
    async def layers(body: LayersRequest, request: Request) -> Response:
        return await _layers(service, request, body)

    @router.post("/contributions", responses={200: {"model": Contributions}})
    async def contributions(body: TextRequest, request: Request) -> Response:
        model = service.models.find(body.model, _explains, "not fitted to classes, numbers or tags")
        texts = await _texts(service, request, model, body)
        n_words = sum(len(text.spans) for text in texts)
        if n_words >= service.limits.inputs:
            most = service.limits.inputs - 1
            raise Refusal(413, f"Each of the text's {n_words} words would be left out in turn; {most} are the most.")
        service.check_cost((n_words + 1) * n_words, 1)  # at the least: a word has a piece or more
        if model.task == "tag":
            return await values(await _tags(service, request, model, texts), n_words * n_words)
        return value(await _classes(service, request, model, texts))

    return router


async def _layers(service: Service, request: Request, body: LayersRequest) -> Response:
    model = service.models.find(body.model, _mixes, "not fitted with layers='mix'")
    texts = await _texts(service, request, model, body)
    n_layers = len(_mix(model)["weights"])
    if len(body.weights) != n_layers or not sum(body.weights):
        raise Refusal(
            422, f"{len(body.weights)} weights were sent; {model.name} wants {n_layers}, not all of them 0.",
            param="weights",
        )  # fmt: skip
    weights = tuple(weight / sum(body.weights) for weight in body.weights)
    work = model.predicting(inside.remixed, weights, body.gamma)
    said = (await predict(service, request, model, [_example([text.words for text in texts])], work))[0]
    words = texts[0].words if model.task == "tag" else []
    return value({"label": said.label, "scores": said.scores, "words": words})


async def _classes(service: Service, request: Request, model: Model, texts: Sequence[Text]) -> dict[str, Any]:
    """One request of the text and of the text without each word, so that they are read together."""
    words = [text.words for text in texts]
    given = [words, *_without_each(words)]
    said, *without = await predict(service, request, model, [_example(one) for one in given])
    falls = iter([_score(said, said) - _score(one, said) for one in without])
    given_words = [{**shown(text), "falls": [next(falls) for _ in text.spans]} for text in texts]
    return {"label": said.label, "scores": said.scores, "chances": None, "texts": given_words}


async def _tags(service: Service, request: Request, model: Model, texts: Sequence[Text]) -> dict[str, Any]:
    """The same, of the chance of each word's tag."""
    words, names = texts[0].words, _tag_names(model)
    service.check_numbers(len(words) ** 2)
    given = [words, *(one[0] for one in _without_each([words]))]
    (tags, all_chances), *without = await predict(service, request, model, given, model.predicting(inside.tag_chances))
    columns = np.array([names.index(tag) for tag in tags], dtype=int)
    chances = all_chances[np.arange(len(tags)), columns]
    falls = []
    for place, (_, rest) in enumerate(without):
        left = np.delete(columns, place)
        row = np.delete(chances, place) - rest[np.arange(len(left)), left]
        falls.append([*row[:place].tolist(), None, *row[place:].tolist()])
    given_words = {**shown(texts[0]), "falls": falls}
    return {"label": tags, "scores": None, "chances": chances.tolist(), "texts": [given_words]}


async def _texts(service: Service, request: Request, model: Model, body: TextRequest) -> list[Text]:
    strings = [body.text] if body.second is None else [body.text, body.second]
    if (len(strings) == 2) != reads_pairs(model):
        wanted = "two texts: text and second" if reads_pairs(model) else "one text, without a second"
        raise Refusal(422, f"{model.name} wants {wanted}.", param="second")
    n_characters = service.check_texts(strings)
    return await service.prepared(request, n_characters, lambda: [to_text(one) for one in strings])


def _without_each(texts: Sequence[list[str]]) -> list[list[list[str]]]:
    """All texts with one word less, for each word of each."""
    return [
        [words[:place] + words[place + 1 :] if number == which else words for number, words in enumerate(texts)]
        for which, text in enumerate(texts)
        for place in range(len(text))
    ]


def _example(words: Sequence[list[str]]) -> Any:
    return words[0] if len(words) == 1 else tuple(words)


def _score(one: Prediction, whole: Prediction) -> float:
    """The chance of the class that is said of the whole text, or the number that is said."""
    return float(one.label) if one.scores is None else one.scores[whole.label]


def _explains(model: Model) -> bool:
    return model.task in (*CLASSIFYING, "tag")


def _mixes(model: Model) -> bool:
    return _explains(model) and _mix(model)["weights"] is not None


def _mix(model: Model) -> dict[str, Any]:
    mix = model.fitted.top.mix if model.fitted else None
    if mix is None:
        return {"weights": None, "gamma": None}
    return {"weights": mix.weights.tolist(), "gamma": mix.gamma.item()}


def _facts(model: Model) -> dict[str, Any]:
    assert model.fitted is not None
    read = model.fitted.top.reading.chosen(len(model.pretrained.encoder.widths))
    labels = _tag_names(model) if model.task == "tag" else labels_of(model)
    facts = {"name": model.name, "task": model.task, "labels": labels, "pairs": reads_pairs(model)}
    return {**facts, "layers": list(read), **_mix(model)}


def _tag_names(model: Model) -> list[str]:
    assert model.fitted is not None
    return list(model.fitted.kind.facts()["names"])
