"""A BERT with more than its file held: parts that were left out, rows for new pieces."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_heads import BertHeads

_PART_OF = {
    "pooler": "the pooler",
    "masked": "the head for masked words",
    "adjacent": "the head for adjacent sentences",
}


def completed(
    encoder: BertEncoder, heads: BertHeads | None, adjacent: bool
) -> tuple[BertEncoder, BertHeads, list[str]]:
    """The same BERT with a head for masked words and, if asked for, for adjacent sentences; and what was made new."""
    has_adjacent = heads is not None and heads.adjacent is not None
    flags = {"pooler": encoder.pooler is not None or adjacent, "masked_head": True}
    config = encoder.config.model_copy(update={**flags, "adjacent_head": has_adjacent or adjacent})
    whole = BertEncoder(config), BertHeads(config)
    absent: list[str] = []
    for new, old in zip(whole, (encoder, heads), strict=True):
        there: dict[str, Tensor] = {} if old is None else old.state_dict()
        absent += [_PART_OF[name.split(".")[0]] for name in new.state_dict() if name not in there]
        new.load_state_dict({**new.state_dict(), **there})
    return *whole, list(dict.fromkeys(absent))


def with_rows(
    encoder: BertEncoder, heads: BertHeads, rows: Mapping[int, Sequence[int]]
) -> tuple[BertEncoder, BertHeads]:
    """The same BERT with rows for new pieces, by number, each of which begins as the mean of some older ones."""
    n_pieces = max(encoder.config.vocab_size, 1 + max(rows))
    config = encoder.config.model_copy(update={"vocab_size": n_pieces})
    grown = BertEncoder(config), BertHeads(config)
    for new, old, name in zip(grown, (encoder, heads), ("embeddings.words.weight", "masked.bias"), strict=True):
        state, table = old.state_dict(), new.state_dict()[name].clone()  # (pieces, width) or (pieces,)
        table[: len(state[name])] = state[name]
        for number, some in rows.items():
            table[number] = state[name][list(some)].mean(0)
        new.load_state_dict({**state, name: table})
    return grown
