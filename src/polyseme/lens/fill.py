"""What a language model would write in the place of [MASK]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoEncoder, direction
from polyseme.errors import Mistake
from polyseme.layers.softmax import Softmax
from polyseme.lens.ways import way_of
from polyseme.text.characters import MARKERS, CharacterTokenizer
from polyseme.text.words import to_text

MASK = "[MASK]"


@dataclass(frozen=True)
class Filling:
    """The likeliest words for a mask, by each way of reading and by all of them together."""

    ways: dict[str, list[tuple[str, float]]]  # "both", and for ELMo also "forward" and "backward"


def fill(pretrained: Pretrained, string: str, n: int = 10) -> list[Filling]:
    """A Filling for each [MASK] of a text."""
    fill_masks = way_of(pretrained, _FILLERS, "fill a mask")
    if MASK not in string:
        raise Mistake(f'There is no {MASK} in {string!r}. Write it where a word is wanted: "The ice cream was {MASK}."')
    with torch.inference_mode():
        return fill_masks(pretrained, string, n)


def _fill_elmo(pretrained: Pretrained, string: str, n: int) -> list[Filling]:
    """Forward reads what stands before the mask, backward what stands behind it; neither sees the mask."""
    encoder, softmax, tokenizer = pretrained.encoder, pretrained.lm, pretrained.tokenizer
    assert isinstance(encoder, ElmoEncoder)
    assert isinstance(softmax, Softmax)
    assert isinstance(tokenizer, CharacterTokenizer)
    words: list[str] = []
    masks: list[int] = []
    for number, part in enumerate(string.split(MASK)):
        if number:
            masks.append(len(words))
            words.append(MASK)
        words += to_text(part).words
    encoding = encoder.eval()(tokenizer.encode([to_text(words)]))
    fillings = []
    for mask in masks:  # word m is row m + 1: row 0 is the begin of the sentence
        forward = softmax(direction(encoding, "forward").layers[-1][mask]).log_softmax(0)
        backward = softmax(direction(encoding, "backward").layers[-1][mask + 2]).log_softmax(0)
        ways = {"forward": forward, "backward": backward, "both": (forward + backward).log_softmax(0)}
        fillings.append(Filling({way: _best(logs, tokenizer, n) for way, logs in ways.items()}))
    return fillings


def _best(logs: Tensor, tokenizer: CharacterTokenizer, n: int) -> list[tuple[str, float]]:
    """The n likeliest words, markers left out."""
    assert tokenizer.vocabulary is not None
    chances, numbers = logs.exp().topk(min(n + 3, len(logs)))
    words = [
        (tokenizer.vocabulary[number], chance)
        for number, chance in zip(numbers.tolist(), chances.tolist(), strict=True)
    ]
    return [(word, chance) for word, chance in words if word not in MARKERS][:n]


_FILLERS: dict[str, Callable[[Pretrained, str, int], list[Filling]]] = {"elmo": _fill_elmo}
