"""What one encoder makes of a word: how alike it is in some sentences, and what senses a corpus shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polyseme.encoders import Pretrained
from polyseme.errors import Mistake
from polyseme.lens.in_context import Array, Tell, layer_number, silent
from polyseme.lens.occurrences import Occurrences
from polyseme.lens.senses import Grouping, central, form_means, forms, group, telling_words, without_forms
from polyseme.text.mentions import Mention

Lines = dict[str, Any]


@dataclass(frozen=True)
class View:
    """Everything that is shown, of one encoder."""

    name: str
    family: str
    asked: Occurrences  # in the sentences that were given
    layer: int  # that neighbours and groups are found at
    corpus: Occurrences | None = None
    grouping: Grouping | None = None  # of the corpus

    @classmethod
    def of(
        cls, name: str, pretrained: Pretrained, asked: Sequence[Mention], corpus: Sequence[Mention] = (),
        layer: int = -1, n_senses: int | None = None, seed: int = 0, tell: Tell = silent,
    ) -> View:  # fmt: skip
        """A corpus tells nothing of static vectors: each occurrence has the same one."""
        family, n_layers = pretrained.encoder.family, len(pretrained.encoder.widths)
        layer = layer_number(pretrained, layer, name) if n_layers > 1 else 0
        here = Occurrences.of(pretrained, asked)
        _refuse_unknown(here, name)
        if n_layers == 1 or not corpus:
            return cls(name, family, here, layer)
        view = cls(name, family, here, layer, Occurrences.of(pretrained, corpus, tell))
        points, _ = view.points()
        return replace(view, grouping=group(points, n_senses=n_senses, seed=seed))

    def points(self) -> tuple[Array, Array]:
        """(occurrences, width) that are grouped, and (sentences, width) beside them, their forms taken off."""
        assert self.corpus is not None
        rows, mentions = self.corpus.layers[self.layer], self.corpus.mentions
        means = form_means(rows, mentions)
        asked = without_forms(self.asked.layers[self.layer], self.asked.mentions, means)
        return without_forms(rows, mentions, means), asked

    def mean_cosines(self) -> list[float]:
        """Of all pairs of sentences, at each layer."""
        n = len(self.asked.mentions)
        return [float((cosines.sum() - np.trace(cosines)) / max(1, n * (n - 1))) for cosines in self.asked.cosines()]

    def senses(self, n: int = 3) -> list[Lines]:
        """Of each sense how often it is, words that tell it, and its most central occurrences."""
        if self.grouping is None or self.corpus is None:
            return []
        labels, mentions, (rows, _) = self.grouping.labels, self.corpus.mentions, self.points()
        return [
            {
                "occurrences": int((labels == sense).sum()),
                "forms": forms(mentions, labels, sense),
                "words": telling_words(mentions, labels, sense),
                "examples": [_line(mentions[place]) for place in central(rows, labels, sense, n)],
            }
            for sense in range(self.grouping.n)
        ]

    def nearest(self, n: int = 5) -> list[list[Lines]]:
        """For each sentence the occurrences in the corpus that are most like its word."""
        if self.corpus is None or self.grouping is None:
            return []
        sense_of = {
            id(one): int(label) + 1 for one, label in zip(self.corpus.mentions, self.grouping.labels, strict=True)
        }
        found = self.corpus.nearest(self.asked, self.layer, n)
        return [[{"cosine": cosine, "sense": sense_of[id(one)], **_line(one)} for one, cosine in row] for row in found]

    def facts(self, n: int) -> Lines:
        """All of it, for machines."""
        layers = [{"layer": number, "cosines": rows.tolist()} for number, rows in enumerate(self.asked.cosines())]
        facts: Lines = {"model": self.name, "family": self.family, "layers": layers}
        if self.grouping is None:
            return facts
        grouping = {
            "layer": self.layer, "silhouettes": self.grouping.silhouettes, "reference": self.grouping.reference,
            "stability": self.grouping.stability, "verdict": self.grouping.verdict(), "senses": self.senses(n),
        }  # fmt: skip
        return {**facts, "grouping": grouping, "nearest": self.nearest(n)}


def _line(mention: Mention) -> Lines:
    before, word, behind = mention.in_context()
    return {"before": before, "word": word, "behind": behind}


def _refuse_unknown(here: Occurrences, name: str) -> None:
    for mention, rows in zip(here.mentions, zip(*here.layers, strict=True), strict=True):
        if not any(row.any() for row in rows):
            raise Mistake(f"{mention.word!r} has no vector in {name}. Leave that model out, or ask for another word.")
