"""Our own protocol: words with their vectors, and what language models and fitted models say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, Field, StrictInt
from pydantic_core import to_json

from polyseme.adapt.inputs import Inputs
from polyseme.encoders.encoder import Directions
from polyseme.lens.fill import MASK
from polyseme.lens.score import Score
from polyseme.serve import works
from polyseme.serve.bodies import JsonRoute
from polyseme.serve.examples import encoded, examples
from polyseme.serve.models import Model
from polyseme.serve.predicting import CLASSIFYING, n_chances, predict
from polyseme.serve.refusals import PROBLEMS, Refusal
from polyseme.serve.replies import numbers, reply, shown, value, values
from polyseme.serve.senses import SensesReply, SensesRequest, senses
from polyseme.serve.service import Service, Words
from polyseme.text.words import to_text
from polyseme.types import Text

WordList = Annotated[list[str], Field(fail_fast=True)]


def _several(value: Any) -> Any:
    """One text or question stands for a list of it."""
    return [value] if isinstance(value, str | dict) else value


def _or_one(either: Any) -> BeforeValidator:
    """For a list that may be one of its members; the union of both, which is what the schema says, cannot fail fast."""
    return BeforeValidator(_several, json_schema_input_type=either)


_SOME, _ANY = Field(min_length=1, fail_fast=True), Field(min_length=1)
Texts = Annotated[list[str], _SOME, _or_one(str | Annotated[list[str], _ANY])]
SplitOrNot = Annotated[  # texts, or the lists of their words
    list[str | WordList], _SOME, _or_one(str | Annotated[list[str | list[str]], _ANY])
]
Which = Literal["top", "mix", "last4", "all"] | StrictInt

_VALUES_A_WORD = 4  # the word, where it begins and ends, and its tag


class WordsRequest(BaseModel):
    """Texts, or lists of words, to a vector a word."""

    inputs: SplitOrNot
    layers: Which = "top"
    directions: Directions = "both"
    model: str | None = None


class WordsOf(BaseModel):
    """The words of one text; with layers="all" their vectors have a leading axis of layers."""

    words: list[str]
    spans: list[tuple[int, int]]
    vectors: list[Any]


class FillRequest(BaseModel):
    """Texts with [MASK] in them."""

    inputs: Texts
    n: Annotated[int, Field(ge=1, le=1000)] = 10
    model: str | None = None


class Word(BaseModel):
    """A word and its probability."""

    word: str
    chance: float


class ScoreRequest(BaseModel):
    """Texts whose likelihood is wanted."""

    inputs: SplitOrNot
    within_word: bool = False
    model: str | None = None


class ScoreOf(BaseModel):
    """How likely a text is under a language model."""

    perplexity: float | None
    nll: dict[str, float]
    bits_per_byte: float | None
    predicted: int
    unknown: int


class TagRequest(BaseModel):
    """Texts, or lists of words, whose words are to be tagged."""

    inputs: SplitOrNot
    model: str | None = None


class TagsOf(BaseModel):
    """A tag a word."""

    words: list[str]
    spans: list[tuple[int, int]]
    tags: list[str]


class ClassifyRequest(BaseModel):
    """Texts, or pairs of texts, to classes or numbers."""

    inputs: Annotated[list[str | tuple[str, str]], _SOME, _or_one(str | Annotated[list[str | tuple[str, str]], _ANY])]
    model: str | None = None


class ClassOf(BaseModel):
    """A class with the chances of all, or a number."""

    label: str | float
    scores: dict[str, float] | None


class Question(BaseModel):
    """A question, and the text that answers it."""

    question: str
    context: str


class AnswerRequest(BaseModel):
    """Questions to be answered from texts."""

    inputs: Annotated[list[Question], _SOME, _or_one(Question | Annotated[list[Question], _ANY])]
    model: str | None = None


class AnswerOf(BaseModel):
    """context[start:end] answers."""

    answer: str
    start: int
    end: int


def routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=JsonRoute, tags=["polyseme"], responses=PROBLEMS)

    @router.post("/words", responses={200: {"model": list[WordsOf]}})
    async def words(body: WordsRequest, request: Request) -> Response:
        return await _words(service, request, body)

    @router.post("/fill", responses={200: {"model": list[list[dict[str, list[Word]]]]}})
    async def fill(body: FillRequest, request: Request) -> Response:
        for place, text in enumerate(body.inputs):
            if MASK not in text:
                raise Refusal(422, f"Input {place} has no {MASK}. Write it where a word is wanted.", kind="Validation")
        model = _with_lm(service, body.model)
        n_masks = [text.count(MASK) for text in body.inputs]
        n_ways = 1 if _is_bert(model) else 3  # forward, backward and both
        n_words = sum(n_masks) * n_ways * body.n
        service.check_numbers(n_words)
        sizes = await _sizes(service, request, model, body.inputs)
        costs = [size * n for size, n in zip(sizes, n_masks, strict=True)]
        found = await service.results(request, model.reading(works.fillings, body.n), body.inputs, costs)
        return await values([[_ways(filling.ways) for filling in fillings] for fillings in found], n_words)

    @router.post("/score", responses={200: {"model": list[ScoreOf]}})
    async def score(body: ScoreRequest, request: Request) -> Response:
        model = _with_lm(service, body.model)
        sizes = await _sizes(service, request, model, body.inputs)
        # it masks a piece at a time: a text is read once for each
        costs = [size * size for size in sizes] if _is_bert(model) else sizes
        work = model.reading(works.scores, body.within_word)
        return value([_score(one) for one in await service.results(request, work, body.inputs, costs)])

    @router.post("/tag", responses={200: {"model": list[TagsOf]}})
    async def tag(body: TagRequest, request: Request) -> Response:
        model = _fitted(service, body.model, ("tag",), "not fitted to tags")
        n_characters = service.check_texts(body.inputs)
        texts = await service.prepared(request, n_characters, lambda: [to_text(one) for one in body.inputs])
        n_words = sum(len(text.words) for text in texts)
        service.check_numbers(_VALUES_A_WORD * n_words)
        said = await predict(service, request, model, body.inputs)
        tagged = [{**shown(text), "tags": one.label} for text, one in zip(texts, said, strict=True)]
        return await values(tagged, _VALUES_A_WORD * n_words)

    @router.post("/classify", responses={200: {"model": list[ClassOf]}})
    async def classify(body: ClassifyRequest, request: Request) -> Response:
        model = _fitted(service, body.model, CLASSIFYING, "not fitted to classes or numbers")
        said = await predict(service, request, model, body.inputs)
        classes = [{"label": one.label, "scores": one.scores} for one in said]
        return await values(classes, n_chances(model, len(said)))

    @router.post("/answer", responses={200: {"model": list[AnswerOf]}})
    async def answer(body: AnswerRequest, request: Request) -> Response:
        model = _fitted(service, body.model, ("span",), "not fitted to answers")
        pairs = [(one.question, one.context) for one in body.inputs]
        spans = [one.label for one in await predict(service, request, model, pairs)]
        return value([_answer(context, *span) for (_, context), span in zip(pairs, spans, strict=True)])

    @router.post("/senses", responses={200: {"model": SensesReply}})
    async def senses_of(body: SensesRequest, request: Request) -> Response:
        return await senses(service, request, body)

    return router


async def _words(service: Service, request: Request, body: WordsRequest) -> Response:
    model = service.models.any(body.model)
    texts, inputs = await _read(service, request, model, body.inputs)
    sizes = inputs.lengths.tolist()
    widths = model.pretrained.encoder.widths
    per_word = sum(widths) if body.layers == "all" else 4 * widths[-1] if body.layers == "last4" else max(widths)
    n_numbers = per_word * sum(len(text.spans) for text in texts)
    service.check_numbers(n_numbers)
    work = model.reading(works.word_vectors, body.layers, body.directions)
    found = await service.results(request, work, examples(inputs), sizes)
    return await reply(lambda: _words_reply(texts, found), n_numbers)


def _words_reply(texts: Sequence[Text], found: Sequence[works.Array]) -> bytes:
    rows = [
        to_json(shown(text))[:-1] + b',"vectors":' + numbers(vectors) + b"}"
        for text, vectors in zip(texts, found, strict=True)
    ]
    return b"[" + b",".join(rows) + b"]"


async def _read(service: Service, request: Request, model: Model, given: Sequence[Words]) -> tuple[list[Text], Inputs]:
    """The texts with their words and as pieces, within the limits."""
    n_characters = service.check_texts(given)

    def read() -> tuple[list[Text], Inputs]:
        texts = [to_text(one) for one in given]
        return texts, encoded(model.pretrained, texts)

    texts, inputs = await service.prepared(request, n_characters, read)
    service.check_sizes(inputs.lengths.tolist())
    return texts, inputs


async def _sizes(service: Service, request: Request, model: Model, given: Sequence[Words]) -> list[int]:
    _, inputs = await _read(service, request, model, given)
    sizes: list[int] = inputs.lengths.tolist()
    return sizes


def _is_bert(model: Model) -> bool:
    return model.pretrained.encoder.family == "bert"


def _with_lm(service: Service, name: str | None) -> Model:
    return service.models.find(name, lambda model: model.pretrained.lm is not None, "without a language model's output")


def _fitted(service: Service, name: str | None, tasks: Sequence[str], lack: str) -> Model:
    return service.models.find(name, lambda model: model.task in tasks, lack)


def _ways(ways: dict[str, list[tuple[str, float]]]) -> dict[str, Any]:
    return {way: [{"word": word, "chance": chance} for word, chance in found] for way, found in ways.items()}


def _score(one: Score) -> dict[str, Any]:
    facts = {"perplexity": _perplexity(one), "nll": one.nll, "bits_per_byte": one.bits_per_byte()}
    return {**facts, "predicted": one.n_predicted, "unknown": one.n_unknown}


def _perplexity(one: Score) -> float | None:
    found = one.perplexity()
    return found if math.isfinite(found) else None  # JSON has no other word for it


def _answer(context: str, start: int, end: int) -> dict[str, Any]:
    return {"answer": context[start:end], "start": start, "end": end}
