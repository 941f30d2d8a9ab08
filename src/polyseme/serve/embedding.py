"""One vector a text, for every protocol that asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from fastapi import Request

from polyseme.adapt.inputs import texts_in
from polyseme.serve import pieces, works
from polyseme.serve.batcher import Work
from polyseme.serve.examples import examples
from polyseme.serve.models import Model
from polyseme.serve.pieces import Sequences, Side
from polyseme.serve.refusals import Refusal
from polyseme.serve.service import Service
from polyseme.serve.works import Array
from polyseme.text.wordpiece import WordPiece

Given = Sequence[str] | Sequence[Sequence[int]]  # texts, or the ids of their pieces


@dataclass(frozen=True)
class Asked:
    """What is wanted of the vectors."""

    normalise: bool = True
    width: int | None = None  # only the first columns
    cut: bool | None = None  # whether long texts are cut off, rather than refused; None: as the server is told
    side: Side = "right"
    prompt: str | None = None  # its name


async def embed(service: Service, request: Request, model: Model, given: Given, asked: Asked) -> tuple[Array, int]:
    """(texts, width), and how many tokens were read."""
    if model.sentences.problem:
        raise Refusal(424, f"{model.name} is {model.sentences.problem}.")
    if asked.width is not None and asked.width > model.width:
        raise Refusal(
            413, f"dimensions={asked.width} was asked for; {model.name} has {model.width}.", param="dimensions"
        )
    if prompt_of(model, asked.prompt) and not model.sentences.pools_prompt:
        raise Refusal(424, f"{model.name} leaves prompts out of its sentence vectors, which is not known here.")
    work = (
        model.reading(works.text_vectors)
        if model.sentences.pooling == "words"
        else model.reading(works.sentence_vectors, model.sentences.pooling)
    )
    service.check_numbers(len(given) * model.width)
    found, n_tokens = await read(service, request, model, given, asked, work)
    return _finished(np.stack(found), asked), n_tokens


async def read(
    service: Service, request: Request, model: Model, given: Given, asked: Asked, work: Work, per_token: int = 0
) -> tuple[list[Array], int]:
    """What a work makes of texts that are read as one sequence each, and how many tokens they have.

    `per_token` is how many numbers the reply holds for each.
    """
    sequences = await sequences_of(service, request, model, given, asked)
    window, cut = model.sentences.window, service.limits.cut_long if asked.cut is None else asked.cut
    if window is not None and not cut:
        for place, size in enumerate(sequences.n_pieces):
            if size > window:
                raise Refusal(413, f"Input {place} has {size} tokens; {model.name} reads {window}. Send truncate=true.")
    sizes = sequences.inputs.lengths.tolist()
    service.check_numbers(per_token * sum(sizes))
    found = await service.results(request, work, examples(sequences.inputs), sizes)
    return found, sum(sizes)


async def sequences_of(service: Service, request: Request, model: Model, given: Given, asked: Asked) -> Sequences:
    """Texts or ids as sequences, within the limits."""
    texts = [one for one in given if isinstance(one, str)]
    if not texts:
        return await _of_ids(service, request, model, cast(Sequence[Sequence[int]], given), asked)
    for place, text in enumerate(texts):
        if not text:
            raise Refusal(400, f"Input {place} is empty. Send a text.")
    texts = [prompt_of(model, asked.prompt) + text for text in texts]
    n_characters = service.check_texts(texts)
    sequences = await service.prepared(request, n_characters, lambda: _sequences(model, texts, asked.side))
    service.check_sizes(sequences.n_pieces)
    return sequences


def prompt_of(model: Model, name: str | None) -> str:
    """What is put before a text; where none is named, the model's own, which most have not."""
    prompts = model.sentences.prompts
    if name is None:
        return prompts.get(model.sentences.default_prompt or "", "")
    if name not in prompts:
        raise Refusal(413, f"{model.name} has no prompt {name[:100]!r}; it has {', '.join(prompts) or 'none'}.")
    return prompts[name]


def _sequences(model: Model, texts: Sequence[str], side: Side) -> Sequences:
    tokenizer = model.pretrained.tokenizer
    if isinstance(tokenizer, WordPiece):
        return pieces.of_texts(tokenizer, texts, model.sentences.window or tokenizer.window, side)
    inputs = texts_in(model.pretrained, texts)
    return Sequences(inputs, inputs.lengths.tolist())


async def _of_ids(
    service: Service, request: Request, model: Model, rows: Sequence[Sequence[int]], asked: Asked
) -> Sequences:
    tokenizer = model.pretrained.tokenizer
    if not isinstance(tokenizer, WordPiece):
        raise Refusal(422, f"{model.name} has no numbers for its pieces. Send text.")
    service.check_count(len(rows))
    sizes = [len(row) for row in rows]
    service.check_sizes(sizes)
    n_characters = service.check_lengths(sizes)  # a number takes about as long as a character
    window = model.sentences.window or tokenizer.window
    return await service.prepared(request, n_characters, lambda: pieces.of_ids(tokenizer, rows, window, asked.side))


def _finished(vectors: Array, asked: Asked) -> Array:
    if asked.width is not None:
        vectors = vectors[:, : asked.width]
    if not asked.normalise:
        return vectors
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normed: Array = vectors / np.maximum(lengths, 1e-12)
    return normed
