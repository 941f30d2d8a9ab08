"""Whether one text follows another, as BERT learned to tell (its next-sentence head)."""

from collections.abc import Iterable, Iterator
from itertools import islice

import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_heads import BertHeads
from polyseme.errors import Mistake
from polyseme.lens.ways import reading
from polyseme.text.batches import groups, take
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text

_WINDOW, _BUDGET = 1024, 4096  # pairs sorted by length together; positions a batch


def follows(pretrained: Pretrained, pairs: Iterable[tuple[str, str]]) -> list[float]:
    """The probability that the second text of each pair follows the first; of a long pair the ends are cut off."""
    encoder, heads = _parts(pretrained)
    waiting = iter(pairs)
    found: list[float] = []
    while window := list(islice(waiting, _WINDOW)):
        with reading(pretrained):
            found += _window(pretrained.tokenizer, encoder, heads, window)
    return found


def _parts(pretrained: Pretrained) -> tuple[BertEncoder, BertHeads]:
    encoder, heads = pretrained.encoder, pretrained.lm
    if not isinstance(encoder, BertEncoder):
        raise Mistake(f"Only BERT can tell whether a text follows another; this is {encoder.family}.")
    absent = list(_absent(encoder, heads))
    if absent or not isinstance(heads, BertHeads):
        raise Mistake(
            f"This BERT cannot tell whether a text follows another: its file left out {' and '.join(absent)}. "
            "Take a folder that was saved as BertForPreTraining or BertForNextSentencePrediction."
        )
    return encoder, heads


def _absent(encoder: BertEncoder, heads: torch.nn.Module | None) -> Iterator[str]:
    if encoder.pooler is None:
        yield "the pooler"
    if not isinstance(heads, BertHeads) or heads.adjacent is None:
        yield "the next-sentence head"


def _window(tokenizer: object, encoder: BertEncoder, heads: BertHeads, pairs: list[tuple[str, str]]) -> list[float]:
    assert isinstance(tokenizer, WordPiece)
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise Mistake(f"A pair is two texts; found {pair!r:.60}. Write follows(model, [(first, second), …]).")
    firsts, seconds = ([to_text(pair[place]) for pair in pairs] for place in (0, 1))
    whole = tokenizer.encode_pairs(firsts, seconds)
    found = torch.zeros(len(pairs))
    for group in groups(whole.lengths, _BUDGET):
        logits = heads.next_sentence(encoder.pooled(encoder(take(whole, group))))  # (pairs, 2): follows, does not
        found[group] = logits.softmax(1)[:, 0]
    chances: list[float] = found.tolist()
    return chances
