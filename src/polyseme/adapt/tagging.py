"""A tag for each word of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import torch
from torch import Tensor

from polyseme.adapt.data import Data
from polyseme.adapt.inputs import Inputs, texts_in
from polyseme.adapt.rows import Pool
from polyseme.adapt.settings import Settings
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake, did_you_mean, listed
from polyseme.heads.head import Features
from polyseme.heads.tag import Tag
from polyseme.tasks import scores
from polyseme.tasks.intervals import Estimate, share
from polyseme.tasks.report import Report, SpanReport, report, span_report
from polyseme.tasks.tags import scheme_of, span_f1, spans, to_iob2
from polyseme.text.batches import take_rows
from polyseme.text.words import to_text
from polyseme.types import Packed, Prediction


@dataclass(frozen=True)
class Tags:
    """The tags, in the order of the head's outputs; those of spans are learned and given as IOB2."""

    names: tuple[str, ...]
    spans: bool
    level = "word"
    joined = False
    heads = ("linear", "bilstm")
    reads = ("crf",)

    @classmethod
    def learn(cls, data: Data) -> Self:
        spans = scheme_of(data.labels) is not None
        names = {tag for tags in data.labels for tag in (to_iob2(tags) if spans else tags)}
        if len(names) < 2:
            raise Mistake(f"All words have the tag {listed(names)}. Two tags are the least to tell apart.")
        return cls(tuple(sorted(names)), spans)

    def inputs(self, pretrained: Pretrained, inputs: Sequence[Any], settings: Settings) -> Inputs:
        return texts_in(pretrained, inputs)

    def targets(self, inputs: Sequence[Any], labels: Sequence[Any]) -> Packed:
        """Numbers of tags, a row a word."""
        number = {name: place for place, name in enumerate(self.names)}
        found, lengths = [], []
        for place, (text, tags) in enumerate(zip(inputs, labels, strict=True)):
            n_words = len(text) if not isinstance(text, str) else len(to_text(text).spans)
            if len(tags) != n_words:
                raise Mistake(f"Input {place} has {n_words} words and {len(tags)} tags. Give a tag a word.")
            tags = to_iob2(tags) if self.spans else tags
            if unknown := [tag for tag in tags if tag not in number]:
                near = did_you_mean(unknown[0], self.names)
                raise Mistake(f"The tag {unknown[0]!r} is none of those learned from: {listed(self.names)}.{near}")
            found += [number[tag] for tag in tags]
            lengths.append(len(tags))
        offsets = torch.tensor([0, *lengths]).cumsum(0)
        return Packed(torch.tensor(found), offsets)

    def pool(self, settings: Settings) -> Pool | None:
        return settings.of_words()

    def head(self, width: int, settings: Settings) -> Tag:
        assert settings.dropout is not None
        assert settings.head in ("linear", "bilstm")
        return Tag(width, self.names, settings.head, settings.crf, dropout=settings.dropout)

    def loss(self, head: Tag, features: Features, targets: Packed, examples: Tensor) -> Tensor:
        return head.loss(head(features), take_rows(targets, examples).values, features.offsets)

    def predictions(self, head: Tag, features: Features, inputs: Sequence[Any]) -> list[Prediction]:
        numbers = head.decode(head(features), features.offsets).tolist()
        bounds = features.offsets.tolist()
        return [Prediction([self.names[number] for number in numbers[start:end]]) for start, end in pairwise(bounds)]

    def interval(self, score: float, data: Data) -> Estimate:
        """Spans, or words, are what is told right or wrong."""
        n = sum(len(spans(tags)) if self.spans else len(tags) for tags in data.labels)
        return share(score * n, n)

    def scores(self, data: Data, said: list[Prediction]) -> dict[str, float]:
        wanted, given = self._both(data, said)
        found = {"accuracy": scores.accuracy(_flat(wanted), _flat(given))}
        return {"span_f1": span_f1(wanted, given), **found} if self.spans else found

    def report(self, data: Data, said: list[Prediction]) -> Report | SpanReport:
        """Type by type where tags mark spans, tag by tag where they do not."""
        wanted, given = self._both(data, said)
        return span_report(wanted, given) if self.spans else report(_flat(wanted), _flat(given))

    def _both(self, data: Data, said: list[Prediction]) -> tuple[list[list[str]], list[list[str]]]:
        """The tags that are wanted and those that are given, as they are learned."""
        wanted = [list(to_iob2(tags) if self.spans else tags) for tags in data.labels]
        return wanted, [one.label for one in said]

    def collapsed(self, said: list[Prediction], labels: Sequence[Any]) -> bool:
        """Whether one tag is said of every word though there are several."""
        given, wanted = ({tag for tags in some for tag in tags} for some in ([one.label for one in said], labels))
        return len(given) == 1 and len(wanted) > 1

    def facts(self) -> dict[str, Any]:
        return {"names": list(self.names), "spans": self.spans}


def _flat(sentences: list[list[str]]) -> list[str]:
    return [tag for tags in sentences for tag in tags]
