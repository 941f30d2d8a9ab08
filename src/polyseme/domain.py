"""The task's own text first: an encoder goes on with its pretraining on it before it is fitted (ULMFiT's stage 2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from polyseme.adapt.texts import is_pair
from polyseme.encoders import Encoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.errors import Mistake
from polyseme.files import sha256, write_file
from polyseme.formats import load
from polyseme.formats.places import model_path
from polyseme.pretrain import pretrain, recipe
from polyseme.text.corpus import find, passages
from polyseme.text.words import words_in
from polyseme.train.report import Report

Tell = Callable[[Report], None]

_RECIPES = {"awd_lstm": "ulmfit-domain", "elmo": "elmo-domain", "bert": "bert-domain"}
_LEAST_STEPS = 20  # an epoch, or there is no schedule to speak of: few words are read in fewer rows


@dataclass(frozen=True)
class Domain:
    """How often the text of the examples is read before any label is, and what other text is read with it."""

    epochs: int
    more_text: tuple[str, ...] = ()  # files, folders or globs of text without labels
    changes: tuple[str, ...] = ()  # of the recipe

    def facts(self) -> dict[str, Any]:
        """For the record, and to see that it is the same again: what is in the other text, not where that lies."""
        hashes = sorted(sha256(path) for path in find(self.more_text)) if self.more_text else []
        return {"epochs": self.epochs, "more_text": hashes, "changes": list(self.changes)}

    def __call__(self, encoder: Path, inputs: Sequence[Any], folder: Path, tell: Tell) -> Path:
        """The encoder that has read the text of these inputs; killed at any moment, the same call goes on."""
        folder = folder.absolute()  # so that it goes on from wherever it is called
        place, own_text = folder / "domain", folder / "domain.jsonl"
        if not (place / "model").is_dir():
            lines = [json.dumps({"text": text}) for text in texts_of(inputs)]
            write_file(own_text, "\n".join(lines) + "\n")
            files = [own_text, *(path.absolute() for path in (find(self.more_text) if self.more_text else ()))]
            chosen = self._recipe(load(encoder).encoder, files)
            told = partial(_tell_own, tell)
            pretrain(chosen, list(map(str, files)), place, init=model_path(encoder).absolute(), tell=told)
        own_text.unlink(missing_ok=True)
        return place / "model"

    def _recipe(self, encoder: Encoder, files: Sequence[Path]) -> Any:
        if encoder.family not in _RECIPES:
            raise Mistake(
                f"A {encoder.family} encoder does not go on with its pretraining. Leave out --domain-epochs, or use an "
                "ELMo, an AWD-LSTM or a BERT."
            )
        name = _RECIPES[encoder.family]
        return recipe(name, [f"epochs={self.epochs}", *_fitting(name, encoder, files), *self.changes])


def texts_of(inputs: Iterable[Any]) -> Iterable[str]:
    """The text of examples: strings, lists of words, tuples of two of either.

    >>> list(texts_of(["one text", ("a question", "its context"), ["words", "of", "one"], (("two", "words"), "one")]))
    ['one text', 'a question', 'its context', 'words of one', 'two words', 'one']
    """
    for one in inputs:
        for text in one if is_pair(one) else (one,):
            yield text if isinstance(text, str) else " ".join(text)


def _tell_own(tell: Tell, report: Report) -> None:
    """Its stages and epochs are not those of the fit that follows."""
    tell(replace(report, stage=f"The task's own text: {report.stage.lower()}"))


def _fitting(name: str, encoder: Encoder, files: Sequence[Path]) -> list[str]:
    """Changes of a recipe for a short text, or for an encoder that reads short texts only."""
    values = recipe(name).model_dump()
    if isinstance(encoder.config, BertConfig):
        return [f"length={min(values['length'], encoder.config.max_position_embeddings)}"]
    length = values.get("bptt") or values["unroll"]
    a_row = length * _LEAST_STEPS  # words
    return [f"rows={max(1, _n_words(files, values['rows'] * a_row) // a_row)}"]


def _n_words(files: Sequence[Path], most: int) -> int:
    """Counted as far as it matters: of a large text the beginning is read."""
    total = 0
    for passage in chain.from_iterable(map(passages, files)):
        total += len(words_in(passage.string))
        if total >= most:
            return most
    return total
