"""Fit a head, and as much of the encoder as the strategy thaws, to labelled examples."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from polyseme.adapt.data import Data
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.kind import Kind
from polyseme.adapt.kinds import kind_for
from polyseme.adapt.model import Top
from polyseme.adapt.rows import reading
from polyseme.adapt.session import Session
from polyseme.adapt.settings import Settings
from polyseme.adapt.shared import Shared
from polyseme.encoders import Encoder, Pretrained
from polyseme.encoders.bert_config import BertConfig, initialise
from polyseme.errors import Mistake
from polyseme.files import write_file
from polyseme.layers.mix import Mix
from polyseme.text.order import seed_for
from polyseme.train.report import Report
from polyseme.types import Prediction

Tell = Callable[[Report], None]

_MOST_ATTEMPTS = 3
_LOOKED_AT = 500  # examples, where none are held out


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
    settings = settings.filled(pretrained.encoder, kind.level)
    how = reading(pretrained, settings.layers, kind.pool(settings), settings.tune != "frozen")
    settings = settings.model_copy(update={"pool": how.pool})  # what was chosen must be found in its folder
    if valid is None:
        data, valid = data.parted(settings.valid, settings.seed)
    begin = {name: tensor.clone() for name, tensor in pretrained.encoder.state_dict().items()}
    attempt = _attempts_before(folder)
    while True:
        fitted = _attempt(pretrained, kind, data, valid, settings, attempt, folder, tell, shared)
        seen = valid or data.take(range(min(len(data), _LOOKED_AT)))
        attempt += 1
        if attempt == _MOST_ATTEMPTS or not kind.collapsed(said(fitted, seen.inputs, shared), seen.labels):
            return fitted
        tell(Report("Fitting", 1, 1, said="The model says one class of everything. Beginning again with another seed."))
        pretrained.encoder.load_state_dict(begin)
        if folder is not None:
            shutil.rmtree(folder / "checkpoints", ignore_errors=True)
            write_file(folder / "attempts", str(attempt))


def _attempts_before(folder: Path | None) -> int:
    return int((folder / "attempts").read_text()) if folder and (folder / "attempts").exists() else 0


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
    if shared is None or settings.tune != "frozen" or settings.reinit:
        return fitted.predict(inputs)
    rows = shared.known(fitted.kind, inputs, settings, fitted.top.reading)
    return fitted.predict(inputs) if rows is None else fitted.predict_from(rows, inputs)


def make_top(pretrained: Pretrained, kind: Kind, settings: Settings) -> Top:
    """What stands on the encoder, untrained."""
    encoder = pretrained.encoder
    how = reading(pretrained, settings.layers, kind.pool(settings), settings.tune != "frozen")
    mix = Mix(len(encoder.widths), norm=settings.mix_norm) if settings.layers == "mix" else None
    width = how.width(encoder) * (1 if mix is not None else len(how.chosen(len(encoder.widths))))
    return Top(how, mix, kind.head(width, settings))


def _begin_anew(encoder: Encoder, n_blocks: int) -> None:
    """Re-initialise the top blocks (Zhang et al. 2021): what they learned last is the least general."""
    if not n_blocks:
        return
    if not isinstance(encoder.config, BertConfig) or n_blocks >= len(encoder.blocks()):
        raise Mistake(f"reinit={n_blocks} begins top blocks of a BERT anew, at most {len(encoder.blocks()) - 1} here.")
    for block in encoder.blocks()[-n_blocks:]:
        block.apply(partial(initialise, spread=encoder.config.initializer_range))
