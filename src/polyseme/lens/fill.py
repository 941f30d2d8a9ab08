"""What a language model would write in the place of [MASK]."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import torch
from torch import Tensor

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmEncoder, TiedDecoder
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_heads import BertHeads
from polyseme.encoders.elmo import ElmoEncoder, direction
from polyseme.errors import Mistake
from polyseme.layers.softmax import Softmax
from polyseme.lens.ways import by_direction, mask_of, reading, way_of
from polyseme.text.characters import MARKERS, CharacterTokenizer
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import BOS, FAKE, SPECIAL
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text
from polyseme.types import Batch

MASK = "[MASK]"

_ANY = 1 << 40  # a window that holds every text


@dataclass(frozen=True)
class Filling:
    """The likeliest words for a mask, by each way of reading and by all of them together."""

    ways: dict[str, list[tuple[str, float]]]  # "both"; where two directions read apart, also "forward" and "backward"


def fill(pretrained: Pretrained, string: str, n: int = 10) -> list[Filling]:
    """A Filling for each [MASK] of a text; BERT gives pieces, those that go on with a word as ##piece."""
    fill_masks = way_of(pretrained, _FILLERS, "fill a mask")
    if MASK not in string:
        raise Mistake(f'There is no {MASK} in {string!r}. Write it where a word is wanted: "The ice cream was {MASK}."')
    with reading(pretrained):
        return fill_masks(pretrained, string, n)


def _fill_elmo(pretrained: Pretrained, string: str, n: int) -> list[Filling]:
    """Forward reads what stands before the mask, backward what stands behind it; neither sees the mask."""
    encoder, softmax, tokenizer = pretrained.encoder, pretrained.lm, pretrained.tokenizer
    assert isinstance(encoder, ElmoEncoder)
    assert isinstance(softmax, Softmax)
    assert isinstance(tokenizer, CharacterTokenizer)
    assert tokenizer.vocabulary is not None
    words, masks = _words(string, MASK)
    encoding = encoder(tokenizer.encode([to_text(words)]))
    rows = torch.tensor(masks)  # word m is row m + 1: row 0 is the begin of the sentence
    ways = {
        "forward": softmax(direction(encoding, "forward").layers[-1][rows]).log_softmax(1),
        "backward": softmax(direction(encoding, "backward").layers[-1][rows + 2]).log_softmax(1),
    }
    return _fillings(ways, tokenizer.vocabulary.__getitem__, n, set(tokenizer.numbers(MARKERS).tolist()))


def _fill_awd_lstm(pretrained: Pretrained, string: str, n: int) -> list[Filling]:
    """As ELMo, or in the one direction there is. Marks such as xxmaj are not shown: they are no words."""
    words, masks = _words(string, "<unk>")  # so that the other masks are unknown words
    ways = {way: _gaps(model, words, masks) for way, model in by_direction(pretrained).items()}
    tokenizer = pretrained.tokenizer
    assert isinstance(tokenizer, MarkedWords)
    hidden = {number for number, word in enumerate(tokenizer.words) if word in (*SPECIAL, FAKE)}
    return _fillings(ways, tokenizer.words.__getitem__, n, hidden)


def _gaps(model: Pretrained, words: list[str], masks: list[int]) -> Tensor:
    """(masks, vocabulary): the logarithms of what one direction expects where it has come to each mask."""
    encoder, decoder, tokenizer = model.encoder, model.lm, model.tokenizer
    assert isinstance(encoder, AwdLstmEncoder)
    assert isinstance(decoder, TiedDecoder)
    assert isinstance(tokenizer, MarkedWords)
    batch = tokenizer.encode([to_text(words)])
    if tokenizer.reverse:  # it learned on a stream, where it came from the xxbos of the text behind
        start = torch.tensor([tokenizer.ids[BOS]])
        batch = _sequence(torch.cat([start, batch.ids]), torch.cat([torch.tensor([-1]), batch.words]))
    places = torch.tensor([int((batch.words == mask).nonzero()) for mask in masks])
    logs: Tensor = decoder(encoder(batch).layers[-1][places - 1], encoder).log_softmax(1)
    return logs


def _fill_bert(pretrained: Pretrained, string: str, n: int) -> list[Filling]:
    """Each mask reads the whole text, other masks included, or as much of it around the mask as there is room for."""
    encoder, heads, tokenizer = pretrained.encoder, pretrained.lm, pretrained.tokenizer
    assert isinstance(encoder, BertEncoder)
    assert isinstance(heads, BertHeads)
    assert isinstance(tokenizer, WordPiece)
    ids, masks = _masked_pieces(tokenizer, string)
    cls, sep = torch.tensor([tokenizer.id_of("cls")]), torch.tensor([tokenizer.id_of("sep")])
    room = min(tokenizer.window - 2, len(ids))
    starts = [max(0, min(place - room // 2, len(ids) - room)) for place in masks]
    fillings = []
    for start, group in groupby(zip(starts, masks, strict=True), itemgetter(0)):
        top = encoder(_sequence(torch.cat([cls, ids[start : start + room], sep]))).layers[-1]
        rows = torch.tensor([1 + place - start for _, place in group])
        logits = heads.masked_words(top[rows], encoder.embeddings.words.weight)
        fillings += _fillings({"both": logits.log_softmax(1)}, tokenizer.piece, n)
    return fillings


def _words(string: str, stand_in: str) -> tuple[list[str], list[int]]:
    """The words of a text, with one that stands for each mask, and where those are."""
    words: list[str] = []
    masks: list[int] = []
    for number, part in enumerate(string.split(MASK)):
        if number:
            masks.append(len(words))
            words.append(stand_in)
        words += to_text(part).words
    return words, masks


def _masked_pieces(tokenizer: WordPiece, string: str) -> tuple[Tensor, list[int]]:
    """The ids of a text's pieces, with the mask piece for each mask, and where those are."""
    mask = torch.tensor([mask_of(tokenizer, "fill a mask")])
    parts = tokenizer.with_window(_ANY).encode([to_text(part) for part in string.split(MASK)])
    joined: list[Tensor] = []
    for part in torch.split(parts.ids, parts.lengths.tolist()):
        joined += [mask, part[1:-1]]  # without its [CLS] and [SEP]
    ends = torch.tensor([len(part) for part in joined[1:]]).cumsum(0)
    return torch.cat(joined[1:]), ends[:-1:2].tolist()


def _sequence(ids: Tensor, words: Tensor | None = None) -> Batch:
    """A Batch of one sequence."""
    none = torch.full_like(ids, -1)
    zero = torch.zeros(1, dtype=torch.long)
    return Batch(ids, torch.tensor([0, len(ids)]), none if words is None else words, zero, zero)


def _fillings(
    ways: dict[str, Tensor], name: Callable[[int], str], n: int, hidden: Collection[int] = ()
) -> list[Filling]:
    """From (masks, vocabulary) logarithms by each way of reading; two ways are also made one.

    Both know how frequent a word is, which must count once: p(word | left, right) is as p(word | left) p(word | right)
    / p(word), where left and right tell of each other by the word alone (Bayes). Multiplied alone they say "the".
    """
    if len(ways) == 2:
        one, other = ways.values()
        ways = ways | {"both": (one + other - _log_shares(one.shape[1])).log_softmax(1)}
    n_masks = len(next(iter(ways.values())))
    return [Filling({way: _best(logs[mask], name, n, hidden) for way, logs in ways.items()}) for mask in range(n_masks)]


def _log_shares(n_words: int) -> Tensor:
    """(words,) how frequent words are whose vocabulary has the most frequent first, by Zipf's law."""
    ranks = torch.arange(n_words)
    return ((ranks + 2).log() - (ranks + 1).log()).log() - math.log(math.log(n_words + 1))


def _best(logs: Tensor, name: Callable[[int], str], n: int, hidden: Collection[int]) -> list[tuple[str, float]]:
    """The n likeliest words, without those that are not to be shown."""
    chances = logs.exp().index_fill(0, torch.tensor(sorted(hidden), dtype=torch.long), -1)
    best, numbers = chances.topk(min(n, len(logs) - len(hidden)))
    return [(name(number), chance) for number, chance in zip(numbers.tolist(), best.tolist(), strict=True)]


_FILLERS: dict[str, Callable[[Pretrained, str, int], list[Filling]]] = {
    "elmo": _fill_elmo,
    "awd_lstm": _fill_awd_lstm,
    "bert": _fill_bert,
}
