"""Fit a head, and as much of the encoder as the strategy thaws, to labelled examples."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from polyseme.adapt.classes import Classes
from polyseme.adapt.data import Data
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.kind import Kind
from polyseme.adapt.kinds import kind_for
from polyseme.adapt.model import Top
from polyseme.adapt.rows import Reading, reading
from polyseme.adapt.session import Session
from polyseme.adapt.settings import Settings
from polyseme.adapt.shared import Shared
from polyseme.adapt.tagging import Tags
from polyseme.encoders import Encoder, Pretrained
from polyseme.encoders.bert_config import BertConfig, initialise
from polyseme.errors import Mistake
from polyseme.files import write_file
from polyseme.layers.mix import Mix
from polyseme.layers.standard import Standard
from polyseme.text.order import seed_for
from polyseme.train.report import Report
from polyseme.types import Prediction

Tell = Callable[[Report], None]

_MOST_ATTEMPTS = 3
_LOOKED_AT = 500  # examples, where none are held out

ATTEMPTS = "attempts.json"


def fit(
    pretrained: Pretrained,
    task: str,
    data: Data,
    settings: Settings,
    valid: Data | None = None,
    folder: Path | None = None,
    tell: Tell = lambda report: None,
    shared: Shared | None = None,
) -> Fitted:
    """A fitted model. With a folder it can be killed at any moment, and the same call goes on where it was.

    The encoder that is given is the one that learns: load it anew where it is needed as it was. A fit that ends with
    one class for everything, as small data now and then makes it, is said and begun again with another seed.
    `shared` has the pieces and frozen rows of all inputs, for fits that come one after another.
    """
    kind = kind_for(task, data, pretrained, settings)
    if shared is None and settings.tune == "frozen":  # what is held out differs from seed to seed, all of it does not
        shared = Shared(pretrained, [*data.inputs, *(valid.inputs if valid else ())])
    if valid is None:
        data, valid = data.parted(settings.valid, settings.seed)
    settings = settled(kind, pretrained, settings, len(data))
    seen = valid or data.take(range(min(len(data), _LOOKED_AT)))
    begin = _weights(pretrained.encoder) if settings.changes_encoder else {}
    scores = _scores_before(folder)  # of the attempts that came to one class for everything
    for place in range(len(scores)):
        tell(_again(place + 1))
    while True:
        attempt = len(scores) if len(scores) < _MOST_ATTEMPTS else _best(scores)
        fitted = _attempt(pretrained, kind, data, valid, settings, attempt, folder, tell, shared)
        if len(scores) == _MOST_ATTEMPTS or not isinstance(kind, Classes | Tags):
            return fitted
        answers = said(fitted, seen.inputs, shared)
        if not kind.collapsed(answers, seen.labels):
            return fitted
        scores.append(next(iter(kind.scores(seen, answers).values())))
        if len(scores) == _MOST_ATTEMPTS and _best(scores) == attempt:
            return fitted
        tell(_again(len(scores)))
        if begin:
            pretrained.encoder.load_state_dict(begin)
        if folder is not None:
            shutil.rmtree(folder / "checkpoints", ignore_errors=True)
            write_file(folder / ATTEMPTS, json.dumps(scores))


def settled(kind: Kind, pretrained: Pretrained, settings: Settings, n_examples: int) -> Settings:
    """What was chosen, if it can be, and for the rest what suits the encoder, the task and so many examples."""
    settings.refuse_unread(kind.heads, kind.reads)
    settings = settings.filled(pretrained.encoder, kind.level, kind.heads, n_examples)
    how = _reading(pretrained, kind, settings)
    return settings.model_copy(update={"pool": how.pool})  # what was chosen must be found in its folder


def _reading(pretrained: Pretrained, kind: Kind, settings: Settings) -> Reading:
    return reading(pretrained, settings.layers, kind.pool(settings), kind.joined and settings.tune != "frozen")


def _again(n_before: int) -> Report:
    if n_before == _MOST_ATTEMPTS:
        return Report("Fitting", 0, 1, said="No attempt did better: the best of them is fitted again.")
    return Report("Fitting", 0, 1, said="The model says one class of everything. Beginning again with another seed.")


def _scores_before(folder: Path | None) -> list[float]:
    path = folder / ATTEMPTS if folder else None
    return list(json.loads(path.read_bytes())) if path and path.exists() else []


def _best(scores: list[float]) -> int:
    """The last of the best: the one whose weights are there already costs no fit more."""
    return max(range(len(scores)), key=lambda place: (scores[place], place))


def _weights(encoder: Encoder) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in encoder.state_dict().items()}


def _attempt(
    pretrained: Pretrained, kind: Kind, data: Data, valid: Data | None, settings: Settings, attempt: int,
    folder: Path | None, tell: Tell, shared: Shared | None,
) -> Fitted:  # fmt: skip
    seed = seed_for(settings.seed, attempt)
    torch.manual_seed(seed)
    _begin_anew(pretrained.encoder, settings.reinit)
    fitted = Fitted(pretrained, kind, make_top(pretrained, kind, settings), settings)
    return replace(fitted, metrics=Session(fitted, data, valid, seed, tell, shared).run(folder))


def said(fitted: Fitted, inputs: Sequence[Any], shared: Shared | None) -> list[Prediction]:
    """What a fitted model says, from rows that are there already where its encoder was frozen."""
    settings = fitted.settings
    if shared is None or settings.changes_encoder:
        return fitted.predict(inputs)
    rows = shared.known(fitted.kind, inputs, settings, fitted.top.reading)
    return fitted.predict(inputs) if rows is None else fitted.predict_from(rows, inputs)


def make_top(pretrained: Pretrained, kind: Kind, settings: Settings) -> Top:
    """What stands on the encoder, untrained."""
    encoder = pretrained.encoder
    how = _reading(pretrained, kind, settings)
    mix = Mix(len(encoder.widths), norm=settings.mix_norm) if settings.layers == "mix" else None
    width = how.width(encoder) * (1 if mix is not None else len(how.chosen(len(encoder.widths))))
    return Top(how, mix, kind.head(width, settings), Standard(width) if settings.standardize else None)


def _begin_anew(encoder: Encoder, n_blocks: int) -> None:
    """Re-initialise the top blocks (Zhang et al. 2021): what they learned last is the least general."""
    if not n_blocks:
        return
    if not isinstance(encoder.config, BertConfig) or n_blocks >= len(encoder.blocks()):
        raise Mistake(f"reinit={n_blocks} begins top blocks of a BERT anew, at most {len(encoder.blocks()) - 1} here.")
    for block in encoder.blocks()[-n_blocks:]:
        block.apply(partial(initialise, spread=encoder.config.initializer_range))
