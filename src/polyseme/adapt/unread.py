"""What an encoder does not see of the examples: words it does not know, and what lies behind its first window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from polyseme.adapt.settings import Settings
from polyseme.encoders import Pretrained
from polyseme.errors import listed
from polyseme.text.bags import BagTokenizer
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import UNK
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text
from polyseme.types import Batch

_SAMPLE = 2000  # examples that are looked at
_MANY = 0.1  # of the words


def unread(pretrained: Pretrained, inputs: Sequence[Any], settings: Settings, level: str) -> list[str]:
    """What there is to say of that, from the first examples."""
    some = [part for one in inputs[:_SAMPLE] for part in (one if isinstance(one, tuple) else (one,))]
    texts = [to_text(text) for text in some]
    batch = pretrained.tokenizer.encode(texts)
    unknown = _unknown(pretrained, batch)
    said, n_words = [], int(batch.n_words.sum())
    if int(unknown.sum()) > _MANY * n_words:
        known = 1 - int(unknown.sum()) / n_words
        words = [text.words for text in texts]
        of_text = batch.texts.repeat_interleave(batch.lengths)[unknown].tolist()
        places = batch.words[unknown].tolist()
        names = Counter(words[text][place] for text, place in zip(of_text, places, strict=True) if place >= 0)
        often = listed([name for name, _ in names.most_common(5)]) if batch.n_sequences == len(texts) else ""
        said.append(f"The encoder knows {known:.0%} of the words{f'; not {often}' if often else ''}.")
    n_long = int((torch.bincount(batch.texts, minlength=len(texts)) > 1).sum())
    if n_long and level == "text" and settings.tune != "frozen" and settings.most_windows is None:
        said.append(
            f"{n_long:,} of {len(texts):,} texts are longer than the encoder's window of "
            f"{getattr(pretrained.tokenizer, 'window', 0)} pieces: of these the first window alone is read "
            "(--set most_windows=4 reads four)."
        )
    return said


def _unknown(pretrained: Pretrained, batch: Batch) -> Tensor:
    """(positions,) whether nothing is known of the piece there."""
    tokenizer = pretrained.tokenizer
    if isinstance(tokenizer, BagTokenizer):
        assert batch.spellings is not None
        return (batch.spellings.offsets.diff() == 0)[batch.ids]
    if isinstance(tokenizer, MarkedWords):
        return batch.ids == tokenizer.ids[UNK]
    if isinstance(tokenizer, WordPiece):
        return batch.ids == tokenizer.id_of("unk")
    return torch.zeros(len(batch.ids), dtype=torch.bool)  # characters spell every word
