"""How likely a language model finds a text, sentence by sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import torch
from torch import Tensor

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmEncoder, TiedDecoder
from polyseme.encoders.elmo import ElmoEncoder, direction
from polyseme.errors import Mistake
from polyseme.layers.softmax import Softmax, losses, perplexity
from polyseme.lens.pseudo import pseudo_losses
from polyseme.lens.ways import by_direction, reading, way_of
from polyseme.text.batches import groups, take, take_rows
from polyseme.text.characters import UNKNOWN, CharacterTokenizer
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import UNK
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text
from polyseme.types import Batch, Packed, Text

_WINDOW, _BUDGET = 1024, 4096


@dataclass(frozen=True)
class Score:
    """The negative log-likelihood of one text under each way the model reads it, in nats.

    What is predicted: for ELMo the words, and the end of the sentence it comes to; for an AWD-LSTM all pieces but the
    first it reads; for BERT ("pseudo") all pieces, each from all the others, so its perplexity is a pseudo-perplexity
    a piece and can be compared with those of other BERTs with the same vocabulary only.
    """

    text: Text
    nll: dict[str, float]  # "forward" and "backward", one of them, or "pseudo"
    n_predicted: int
    n_unknown: int  # words or pieces that only count as the unknown one, which is likelier than the word itself

    def perplexity(self, way: str | None = None) -> float:
        """Of one way, or of all of them together."""
        return perplexity(self._mean(way) / max(1, self.n_predicted))

    def bits_per_byte(self) -> float:
        return self._mean(None) / math.log(2) / max(1, len(self.text.string.encode(errors="replace")))

    def _mean(self, way: str | None) -> float:
        return self.nll[way] if way else sum(self.nll.values()) / len(self.nll)


def total(scores: Sequence[Score]) -> Score:
    """Many texts as one."""
    ways = scores[0].nll if scores else {}
    return Score(
        Text("\n".join(score.text.string for score in scores), ()),
        {way: sum(score.nll[way] for score in scores) for way in ways},
        sum(score.n_predicted for score in scores),
        sum(score.n_unknown for score in scores),
    )


def score(pretrained: Pretrained, texts: Iterable[str | Sequence[str]], within_word: bool = False) -> Iterator[Score]:
    """Each text's likelihood, always from the full softmax, each text on its own.

    `within_word` is for BERT: while a piece is masked, the later pieces of its word are masked too.
    """
    of_window = way_of(pretrained, _SCORERS, "score text")
    if within_word:
        if pretrained.encoder.family != "bert":
            raise Mistake(f"within_word=True is for BERT; this is {pretrained.encoder.family}. Leave it out.")
        of_window = partial(_score_bert, within_word=True)
    waiting = iter(texts)
    while window := [to_text(text) for text in islice(waiting, _WINDOW)]:
        with reading(pretrained):
            scores = of_window(pretrained, window)
        yield from scores


def _score_elmo(pretrained: Pretrained, window: list[Text]) -> list[Score]:
    encoder, softmax, tokenizer = pretrained.encoder, pretrained.lm, pretrained.tokenizer
    assert isinstance(encoder, ElmoEncoder)
    assert isinstance(softmax, Softmax)
    assert isinstance(tokenizer, CharacterTokenizer)
    whole = tokenizer.encode(window)
    numbers = tokenizer.numbers(tokenizer.pieces(whole))  # (positions,) in the vocabulary
    nll = {way: _zeros(window) for way in ("forward", "backward")}
    for group in groups(whole.lengths, _BUDGET):
        batch, targets = take(whole, group), take_rows(Packed(numbers, whole.offsets), group).values
        encoding = encoder(batch)
        for way, places, read in (("forward", _inner(batch), -1), ("backward", _inner(batch, last=True), 1)):
            top = direction(encoding, "forward" if way == "forward" else "backward").layers[-1]
            found = losses(softmax, top[places + read], targets[places])
            nll[way].index_add_(0, _text_of(batch)[places], found.double())
    unknown = numbers == int(tokenizer.numbers([UNKNOWN]))
    return _scores(window, nll, whole.lengths - 1, _count(whole, unknown, window))


def _score_awd_lstm(pretrained: Pretrained, window: list[Text]) -> list[Score]:
    """Forward from xxbos to the last word, backward from the last word to xxbos, or both."""
    nll = {}
    for way, model in by_direction(pretrained).items():
        encoder, decoder = model.encoder, model.lm
        assert isinstance(encoder, AwdLstmEncoder)
        assert isinstance(decoder, TiedDecoder)
        whole = model.tokenizer.encode(window)
        nll[way] = _zeros(window)
        for group in groups(whole.lengths, _BUDGET):
            batch = take(whole, group)
            places, top = _inner(batch), encoder(batch).layers[-1]
            found = losses(partial(decoder, encoder=encoder), top[places - 1], batch.ids[places])
            nll[way].index_add_(0, _text_of(batch)[places], found.double())
    assert isinstance(pretrained.tokenizer, MarkedWords)
    unknown = whole.ids == pretrained.tokenizer.ids[UNK]
    return _scores(window, nll, whole.lengths - 1, _count(whole, unknown, window))


def _score_bert(pretrained: Pretrained, window: list[Text], within_word: bool = False) -> list[Score]:
    tokenizer = pretrained.tokenizer
    assert isinstance(tokenizer, WordPiece)
    whole = tokenizer.encode(window)
    places, found = pseudo_losses(pretrained, whole, within_word)
    texts = _text_of(whole)[places]
    unknown = whole.ids[places] == tokenizer.id_of("unk")
    nll = {"pseudo": _zeros(window).index_add_(0, texts, found.double())}
    n_predicted, n_unknown = (torch.bincount(which, minlength=len(window)) for which in (texts, texts[unknown]))
    return _scores(window, nll, n_predicted, n_unknown)


def _zeros(window: list[Text]) -> Tensor:
    return torch.zeros(len(window), dtype=torch.double)


def _inner(batch: Batch, last: bool = False) -> Tensor:
    """All positions but the first of each sequence, or but the last."""
    inner = torch.ones(len(batch.ids), dtype=torch.bool)
    inner[batch.offsets[1:] - 1 if last else batch.offsets[:-1]] = False
    return inner.nonzero().flatten()


def _text_of(batch: Batch) -> Tensor:
    """(positions,) the text each position comes from."""
    return batch.texts.repeat_interleave(batch.lengths)


def _count(batch: Batch, which: Tensor, window: list[Text]) -> Tensor:
    """How many such positions each text has."""
    return torch.bincount(_text_of(batch)[which], minlength=len(window))


def _scores(window: list[Text], nll: dict[str, Tensor], n_predicted: Tensor, n_unknown: Tensor) -> list[Score]:
    return [
        Score(text, {way: float(sums[number]) for way, sums in nll.items()}, n, unknown)
        for number, (text, n, unknown) in enumerate(zip(window, n_predicted.tolist(), n_unknown.tolist(), strict=True))
    ]


_SCORERS: dict[str, Callable[[Pretrained, list[Text]], list[Score]]] = {
    "elmo": _score_elmo,
    "awd_lstm": _score_awd_lstm,
    "bert": _score_bert,
}
