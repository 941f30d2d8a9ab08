"""One vector a text as sentence-transformers makes it: over all pieces, [CLS] and [SEP] included."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from polyseme.encoders.pretrained import Pretrained
from polyseme.encoders.workers import at_once, evaluating, side_by_side
from polyseme.errors import Mistake
from polyseme.layers.pool import mean
from polyseme.text.batches import groups, take
from polyseme.text.wordpiece import WordPiece
from polyseme.types import Encoding, Text


def sentence_vectors(pretrained: Pretrained, texts: Sequence[str]) -> NDArray[np.float32]:
    """(texts, width), pooled as the model's own files say (provenance["sentence"]), or by the mean if they do not.

    embed(level="text") is another thing: the mean over words. This one cuts a long text off, as its original does.
    """
    settings = {"pooling": "mean", "normalise": False} | pretrained.provenance.get("sentence", {})
    pool = _POOLS.get(settings["pooling"])
    prompt = settings.get("prompts", {}).get(settings.get("default_prompt"), "")
    left_out = prompt and settings.get("include_prompt") is False  # read, but not pooled
    if pool is None or settings.get("other_modules") or left_out:
        raise Mistake(f"This model makes sentence vectors by {settings}; known are the poolings mean and cls alone.")
    if not isinstance(pretrained.tokenizer, WordPiece):
        raise Mistake(f"Sentence vectors need WordPiece; found {type(pretrained.tokenizer).__name__}. Use embed().")
    window = min(settings.get("max_pieces", pretrained.tokenizer.window), pretrained.tokenizer.window)
    tokenizer, encoder = pretrained.tokenizer.with_window(window), pretrained.encoder
    whole = tokenizer.encode([Text(prompt + text, ()) for text in texts])  # pieces are all that counts, not words
    firsts = torch.searchsorted(whole.texts, torch.arange(len(texts)))  # the first window of each text
    parts = list(groups(whole.lengths[firsts], encoder.budget, times=at_once(encoder)))
    with evaluating(encoder):
        pooled = side_by_side(encoder, parts, lambda part: pool(encoder(take(whole, firsts[part]))))
    found = torch.zeros(len(texts), encoder.widths[-1])
    for part, rows in zip(parts, pooled, strict=True):
        found[part] = rows
    vectors: NDArray[np.float32] = (F.normalize(found) if settings["normalise"] else found).numpy()
    return vectors


def _mean(encoding: Encoding) -> Tensor:
    return mean(encoding.layers[-1], encoding.offsets)


def _cls(encoding: Encoding) -> Tensor:
    return encoding.layers[-1][encoding.offsets[:-1]]


_POOLS = {"mean": _mean, "cls": _cls}
