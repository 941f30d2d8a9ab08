"""A table of word vectors to a Pretrained and back, for all formats that hold one."""

import gzip
import logging
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import torch
from numpy.typing import NDArray

from polyseme.encoders import Pretrained
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.errors import BadFile, Mistake
from polyseme.formats.tensors import fill
from polyseme.text.bags import BagTokenizer, Subwords, looks_folded

Rows = NDArray[np.float32]

log = logging.getLogger(__name__)


def to_pretrained(
    words: Sequence[str], rows: Rows, source: Path, kind: str, subwords: Subwords | None = None
) -> Pretrained:
    """A Pretrained of static vectors; of a word that stands there twice the first vector counts, as in gensim."""
    if not np.isfinite(rows).all():
        raise BadFile(f"{source}: row {int(np.argmin(np.isfinite(rows).all(1)))} holds NaN or infinity, not numbers.")
    if len(words) > len(set(words)):
        words, rows = _without_repeats(words, rows, source)
    if not words:
        raise BadFile(f"{source} holds no words.")
    with torch.device("meta"):
        encoder = StaticEncoder(StaticConfig(n_rows=rows.shape[0], width=rows.shape[1]))
    fill(encoder, {"table.weight": torch.from_numpy(rows)}, str(source))
    tokenizer = BagTokenizer(tuple(words), subwords, looks_folded(words))
    return Pretrained(tokenizer, encoder.eval(), {"source": {"format": kind, "file": source.name}})


def table(pretrained: Pretrained) -> tuple[tuple[str, ...], Rows]:
    """Every word of a static Pretrained and its vector, n-grams included."""
    tokenizer, encoder = static_parts(pretrained)
    if tokenizer.subwords is None:
        return tokenizer.words, encoder.table.weight.detach().numpy()
    vectors = pretrained.embed([[word] for word in tokenizer.words], level="text")
    return tokenizer.words, cast(Rows, vectors)


def static_parts(pretrained: Pretrained) -> tuple[BagTokenizer, StaticEncoder]:
    """The tokenizer and encoder of a static Pretrained; any other is refused."""
    tokenizer, encoder = pretrained.tokenizer, pretrained.encoder
    if not isinstance(tokenizer, BagTokenizer) or not isinstance(encoder, StaticEncoder):
        raise Mistake(
            f"This needs one vector a word; this encoder's (family {encoder.family!r}) depend on the context. "
            "Use static vectors."
        )
    return tokenizer, encoder


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to read bytes from, unpacked where its name ends in .gz."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast(BinaryIO, file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadFile(f"{path} is no whole gzip file ({error}). Copy it again.") from None


def check_words(words: Sequence[str], forbidden: str, path: Path) -> None:
    """Refuse to write a word that would not read back: an empty one, one with such a character or half of a pair."""
    unreadable = re.compile(rf"^$|^ | $|[{re.escape(forbidden)}\ud800-\udfff]")
    wrong = next((word for word in words if unreadable.search(word)), None)
    if wrong is not None:
        raise Mistake(f"The word {wrong!r} cannot be written to {path.name}: it would not read back. Leave it out.")


def decoded(word: bytes) -> str:
    """The bytes of a word as a string; bytes that are no UTF-8 show as U+FFFD."""
    return word.decode(errors="replace")


def _without_repeats(words: Sequence[str], rows: Rows, source: Path) -> tuple[list[str], Rows]:
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    log.warning("%s: %d words stand there twice; the first vector counts.", source, len(words) - len(first))
    kept = [*first.values(), *range(len(words), len(rows))]
    return list(first), rows[kept]
