"""Static vectors from raw text: gensim trains them, the result is ours."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.errors import MissingExtra, Mistake
from polyseme.files import new_file
from polyseme.formats.tensors import fill
from polyseme.pretrain.recipes import StaticRecipe
from polyseme.text.bags import BagTokenizer, Subwords
from polyseme.text.shards import Shards

_BLOCK = 20_000  # sentences written at a time
_LONGEST = 10_000  # words of a line: gensim cuts longer ones off


def train(corpus: Shards, recipe: StaticRecipe, folder: Path, tell: Callable[[float, float], None]) -> Pretrained:
    """Skip-gram vectors of all text, with n-gram rows if the recipe wants them."""
    text = folder / "words.txt"
    if not text.exists():
        with new_file(text) as temporary:
            _write_text(corpus, recipe.fold_case, temporary)
    with _telling(tell, recipe.epochs):
        model = _fit(text, recipe)
    text.unlink()
    words = tuple(model.wv.index_to_key)
    rows = model.wv.vectors_vocab if recipe.subwords else model.wv.vectors
    if recipe.subwords:
        rows = np.concatenate([rows, model.wv.vectors_ngrams])
    with torch.device("meta"):
        encoder = StaticEncoder(StaticConfig(n_rows=len(rows), width=recipe.width))
    fill(encoder, {"table.weight": torch.from_numpy(np.ascontiguousarray(rows))}, "gensim's result")
    subwords = Subwords(n_buckets=recipe.n_buckets) if recipe.subwords else None
    return Pretrained(BagTokenizer(words, subwords, recipe.fold_case), encoder.eval())


def _fit(text: Path, recipe: StaticRecipe) -> Any:
    try:
        from gensim.models import FastText, Word2Vec
    except ImportError:
        raise MissingExtra("gensim", "static", "Training static vectors") from None
    settings = {
        "corpus_file": str(text), "vector_size": recipe.width, "window": recipe.window, "negative": recipe.negatives,
        "min_count": recipe.min_count, "max_final_vocab": recipe.max_words, "sample": recipe.sample, "sg": 1,
        "alpha": recipe.rate, "min_alpha": recipe.rate * 1e-4, "epochs": recipe.epochs, "seed": recipe.seed,
        "workers": torch.get_num_threads(),
    }  # fmt: skip
    try:
        if recipe.subwords:
            return FastText(**settings, min_n=3, max_n=6, bucket=recipe.n_buckets)
        return Word2Vec(**settings)
    except RuntimeError as error:  # "you must first build vocabulary": no word is frequent enough
        raise Mistake(f"No word comes {recipe.min_count} times in this text. Lower min_count ({error}).") from None


def _write_text(whole: Shards, fold_case: bool, path: Path) -> None:
    """A sentence a line, words with spaces between them, as gensim's fast reader wants it."""
    types = np.array([_plain(word.lower() if fold_case else word) for word in whole.types], dtype=object)
    with path.open("w", encoding="utf-8", errors="replace") as file:
        for start in range(0, whole.meta.n_sentences, _BLOCK):
            bounds = whole.sentences[start : start + _BLOCK + 1]
            words = types[whole.ids[bounds[0] : bounds[-1]]]
            file.writelines(_lines(words, (bounds - bounds[0]).tolist()))


def _lines(words: Any, bounds: list[int]) -> Iterator[str]:
    for first, last in pairwise(bounds):
        for start in range(first, last, _LONGEST):
            yield " ".join(words[start : min(last, start + _LONGEST)]) + "\n"


def _plain(word: str) -> str:
    """A word as one field of a line: white space inside it, as in a name split by hand, becomes an underscore."""
    return re.sub(r"\s", "_", word)


@contextmanager
def _telling(tell: Callable[[float, float], None], epochs: int) -> Iterator[None]:
    """Read gensim's progress from its log, the only place where it tells it."""
    pattern = re.compile(r"EPOCH (\d+) - PROGRESS: at ([\d.]+)%")

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if match := pattern.match(record.getMessage()):
                tell(int(match[1]) + float(match[2]) / 100, epochs)

    log, listener = logging.getLogger("gensim.models.word2vec"), Listener()
    level, propagate = log.level, log.propagate
    log.setLevel(logging.INFO)
    log.addHandler(listener)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(listener)
        log.setLevel(level)
        log.propagate = propagate
