"""Fitted models taken apart, in a thread: their layers mixed anew, the chances behind their tags."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from polyseme.adapt.fitted import Fitted
from polyseme.adapt.model import Top
from polyseme.layers.mix import Mix
from polyseme.serve.examples import Example
from polyseme.serve.works import Array, features_of
from polyseme.types import Prediction


def remixed(fitted: Fitted, weights: Sequence[float], gamma: float, some: Sequence[Example]) -> list[Prediction]:
    """What it would say with this mix of layers; the model itself, which threads share, stays as it is."""
    top = fitted.top
    assert top.mix is not None
    mix = Mix(len(weights), top.mix.norm).eval()
    mix.load_state_dict(top.mix.state_dict())  # what layers are made alike with, where they are
    mix.scores.copy_(torch.tensor(weights).log())  # the softmax undoes it; a weight of 0 becomes -inf, and 0 again
    mix.gamma.fill_(gamma)
    features = features_of(fitted, Top(top.reading, mix, top.head, top.standard), some)
    return fitted.kind.predictions(top.head, features, [example.given for example in some])


def tag_chances(fitted: Fitted, some: Sequence[Example]) -> list[tuple[list[str], Array]]:
    """A text's tags, and (words, tags) chances of the head's own scores: a CRF or rules that choose come behind it."""
    features = features_of(fitted, fitted.top, some)
    said = fitted.kind.predictions(fitted.top.head, features, [example.given for example in some])
    chances = fitted.top.head(features).softmax(1)
    parts = torch.split(chances, features.offsets.diff().tolist())
    return [(one.label, part.numpy()) for one, part in zip(said, parts, strict=True)]
