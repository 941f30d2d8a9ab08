"""Where in a context the answer to a question stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from polyseme.adapt.data import Data
from polyseme.adapt.inputs import Inputs, Pairs, can_join, questions_in
from polyseme.adapt.rows import Pool
from polyseme.adapt.settings import Settings
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.heads.head import Features
from polyseme.heads.span import Span
from polyseme.layers.pool import mean
from polyseme.tasks import scores
from polyseme.tasks.intervals import Estimate, share
from polyseme.text.batches import offsets_of
from polyseme.text.words import to_text
from polyseme.types import Prediction


@dataclass(frozen=True)
class Answers:
    """An input is (question, context), a label the spans of characters that answer it; a Prediction has one of them."""

    pairs: Pairs
    level = "word"
    joined = False  # its rows are words, whatever they are read with
    heads = ("linear",)
    reads = ("pairs",)

    @classmethod
    def learn(cls, data: Data, pretrained: Pretrained, settings: Settings) -> Self:
        _check_inputs(data.inputs)
        joins = can_join(pretrained)
        return cls(settings.pairs or ("joined" if joins else "apart"))

    def inputs(self, pretrained: Pretrained, inputs: Sequence[Any], settings: Settings) -> Inputs:
        _check_inputs(inputs)
        texts = [(to_text(question), to_text(context)) for question, context in inputs]
        return questions_in(pretrained, texts, self.pairs)

    def targets(self, inputs: Sequence[Any], labels: Sequence[Any]) -> Tensor:
        """(examples, 2) the first answer is rows[start:end] of its example."""
        return torch.tensor(
            [
                self._rows(place, one, spans)
                for place, (one, spans) in enumerate(zip(inputs, _spans(labels), strict=True))
            ]
        )

    def pool(self, settings: Settings) -> Pool | None:
        return settings.of_words()

    def head(self, width: int, settings: Settings) -> Span:
        assert settings.dropout is not None
        return Span(width if self.pairs == "joined" else 3 * width, settings.dropout)

    def loss(self, head: Span, features: Features, targets: Tensor, examples: Tensor) -> Tensor:
        features = self._contexts(features)
        return head.loss(head(features), targets[examples], features.offsets)

    def predictions(self, head: Span, features: Features, inputs: Sequence[Any]) -> list[Prediction]:
        features = self._contexts(features)
        n_before = [self._n_before(question) for question, _ in inputs]
        rows = torch.arange(int(features.offsets[-1]))
        first = features.offsets[:-1] + torch.tensor(n_before)
        allowed = rows >= first.repeat_interleave(features.offsets.diff())  # only words of the context answer
        said = []
        for (_, context), before, found in zip(
            inputs, n_before, head.decode(head(features), features.offsets, allowed), strict=True
        ):
            spans = to_text(context).spans
            answer = (spans[found.start - before][0], spans[found.end - before - 1][1]) if found else (0, 0)
            said.append(Prediction(answer))
        return said

    def interval(self, score: float, data: Data) -> Estimate:
        return share(score * len(data), len(data))

    def scores(self, data: Data, said: list[Prediction]) -> dict[str, float]:
        wanted = [
            [context[start:end] for start, end in spans]
            for (_, context), spans in zip(data.inputs, _spans(data.labels), strict=True)
        ]
        given = [context[slice(*one.label)] for (_, context), one in zip(data.inputs, said, strict=True)]
        return {"f1": scores.answer_f1(wanted, given), "exact_match": scores.exact_match(wanted, given)}

    def report(self, data: Data, said: list[Prediction]) -> None:
        """There are no classes."""

    def facts(self) -> dict[str, Any]:
        return {"pairs": self.pairs}

    def _n_before(self, question: str) -> int:
        """Rows of an example before those of its context."""
        return len(to_text(question).spans) if self.pairs == "joined" else 0

    def _rows(self, place: int, one: tuple[str, str], spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
        question, context = one
        if not spans:
            raise Mistake(
                f"Input {place} has no answer. Questions without one cannot be learned from here: leave them out."
            )
        words, (start, end) = to_text(context).spans, spans[0]
        if not (type(start) is type(end) is int and 0 <= start < end <= len(context)):
            raise Mistake(f"Input {place}: its context has {len(context)} characters, the answer is {spans[0]!r}.")
        first = bisect_right([word[1] for word in words], start)
        last = bisect_left([word[0] for word in words], end) - 1
        if not 0 <= first <= last < len(words):
            raise Mistake(f"Input {place}: the answer {spans[0]} holds no word of its context.")
        before = self._n_before(question)
        return before + first, before + last + 1

    def _contexts(self, features: Features) -> Features:
        """Read apart, each word of the context is seen beside the mean of its question's words."""
        if self.pairs == "joined":
            return features
        questions = mean(features.words, features.offsets)[0::2]
        counts = features.offsets.diff()
        of_context = torch.arange(len(counts)).repeat_interleave(counts) % 2 == 1
        words, beside = features.words[of_context], questions.repeat_interleave(counts[1::2], 0)
        return Features(torch.cat([words, beside, words * beside], 1), offsets_of(counts[1::2]))


def _check_inputs(inputs: Sequence[Any]) -> None:
    for place, one in enumerate(inputs):
        if not isinstance(one, tuple | list) or [isinstance(part, str) for part in one] != [True, True]:
            raise Mistake(f"Input {place} is {one!r:.60}; wanted a question and its context, ('question', 'context').")


def _spans(labels: Sequence[Any]) -> Sequence[Any]:
    for place, spans in enumerate(labels):
        if not isinstance(spans, tuple | list) or not all(isinstance(one, tuple | list) for one in spans):
            raise Mistake(f"Label {place} is {spans!r:.60}; wanted a list of the spans that answer, [(start, end)].")
    return labels
