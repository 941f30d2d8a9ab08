"""A WordPiece vocabulary learned from texts, the same one every time."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from polyseme.errors import Mistake
from polyseme.text import wordpiece_files
from polyseme.text.surrogates import encodable
from polyseme.text.wordpiece_files import SPECIAL

_CHUNK = 1000  # texts normalised at a time


def train(texts: Iterable[str], n_pieces: int, lower_case: bool, min_count: int, n_characters: int) -> dict[str, int]:
    """Pieces and their numbers: the special ones, characters, characters within words, then what was joined."""
    backend = Tokenizer(models.WordPiece(unk_token=SPECIAL["unk"]))
    backend.normalizer = wordpiece_files.normalizer({"do_lower_case": lower_case})
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    with _twice(texts) as again:
        characters = _alphabet(again(), backend, n_characters)
        inner = [f"##{character}" for character in characters if _can_follow(character, backend)]
        # The trainer numbers "##x" in the order of a hash table, which differs from run to run, and settles ties by
        # number. Given as special they are numbered before it looks.
        seeded = [*SPECIAL.values(), *characters, *inner]
        if n_pieces < len(seeded):
            raise Mistake(
                f"A vocabulary of {n_pieces} pieces was asked for; the special pieces and {len(characters)} characters "
                f"take {len(seeded)} already. Ask for more (n_pieces)."
            )
        trainer = trainers.WordPieceTrainer(
            vocab_size=n_pieces,
            min_frequency=min_count,
            show_progress=False,
            special_tokens=seeded,
            initial_alphabet=characters,
            limit_alphabet=len(characters),
        )
        backend.train_from_iterator(again(), trainer)
    vocab: dict[str, int] = backend.get_vocab(with_added_tokens=False)
    return vocab


def _alphabet(texts: Iterable[str], backend: Any, n_characters: int) -> list[str]:
    """The most frequent characters after normalisation, by code point; of two as frequent the lower one."""
    counts: NDArray[np.int64] = np.zeros(0x110000, np.int64)
    waiting = iter(texts)
    while chunk := list(islice(waiting, _CHUNK)):
        normalised = backend.normalizer.normalize_str("\n".join(chunk))
        counts += np.bincount(np.frombuffer(normalised.encode("utf-32-le"), np.uint32), minlength=len(counts))
    seen = np.flatnonzero(counts)
    frequent = seen[np.argsort(-counts[seen], kind="stable")]
    return sorted([chr(point) for point in frequent.tolist() if not chr(point).isspace()][:n_characters])


def _can_follow(character: str, backend: Any) -> bool:
    """Whether it can stand within a word; a comma cannot."""
    return len(backend.pre_tokenizer.pre_tokenize_str(f"a{character}")) == 1


@contextmanager
def _twice(texts: Iterable[str]) -> Iterator[Callable[[], Iterator[str]]]:
    """Texts that can be gone through again: an iterator's are written to a temporary file on the way."""
    if iter(texts) is not texts:
        yield lambda: map(encodable, texts)
        return
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{encodable(text)}\n" for text in texts)
        yield lambda: _from_start(file)


def _from_start(file: TextIO) -> Iterator[str]:
    file.seek(0)
    yield from file
