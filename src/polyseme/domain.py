"""The task's own text first: an encoder goes on with its pretraining on it before it is fitted (ULMFiT's stage 2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polyseme.encoders import Encoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.errors import Mistake
from polyseme.files import write_file
from polyseme.formats import load
from polyseme.pretrain import pretrain, recipe
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
        return asdict(self)

    def __call__(self, encoder: Path, inputs: Sequence[Any], folder: Path, tell: Tell) -> Path:
        """The encoder that has read the text of these inputs; killed at any moment, the same call goes on."""
        place = folder / "domain"
        if (place / "model").is_dir():
            return place / "model"
        lines = [json.dumps({"text": text}) for text in texts_of(inputs)]
        write_file(folder / "domain.jsonl", "\n".join(lines) + "\n")
        chosen = self._recipe(load(encoder).encoder, sum(len(line.split()) for line in lines))
        pretrain(chosen, [str(folder / "domain.jsonl"), *self.more_text], place, init=encoder, tell=tell)
        (folder / "domain.jsonl").unlink(missing_ok=True)
        return place / "model"

    def _recipe(self, encoder: Encoder, n_words: int) -> Any:
        if encoder.family not in _RECIPES:
            raise Mistake(
                f"A {encoder.family} encoder does not go on with its pretraining. Leave out --domain-epochs, or use an "
                "ELMo, an AWD-LSTM or a BERT."
            )
        name = _RECIPES[encoder.family]
        return recipe(name, [f"epochs={self.epochs}", *_fitting(name, encoder, n_words), *self.changes])


def texts_of(inputs: Iterable[Any]) -> Iterable[str]:
    """The text of examples: strings, tuples of strings, lists of words.

    >>> list(texts_of(["one text", ("a question", "its context"), ["words", "of", "one"]]))
    ['one text', 'a question', 'its context', 'words of one']
    """
    for one in inputs:
        if isinstance(one, tuple):
            yield from one
        else:
            yield one if isinstance(one, str) else " ".join(one)


def _fitting(name: str, encoder: Encoder, n_words: int) -> list[str]:
    """Changes of a recipe for a short text, or for an encoder that reads short texts only."""
    values = recipe(name).model_dump()
    if isinstance(encoder.config, BertConfig):
        return [f"length={min(values['length'], encoder.config.max_position_embeddings)}"]
    length = values.get("bptt") or values["unroll"]
    return [f"rows={max(1, min(values['rows'], n_words // (length * _LEAST_STEPS)))}"]
