"""BERT's tensors in our names and in Hugging Face's: one table, read in both directions."""

import re
from collections.abc import Iterable

Names = dict[str, tuple[str, ...]]  # ours to theirs; several of theirs are stacked to one of ours

_EMBEDDINGS: Names = {
    "embeddings.words.weight": ("bert.embeddings.word_embeddings.weight",),
    "embeddings.positions.weight": ("bert.embeddings.position_embeddings.weight",),
    "embeddings.segments.weight": ("bert.embeddings.token_type_embeddings.weight",),
    "embeddings.norm.weight": ("bert.embeddings.LayerNorm.weight",),
    "embeddings.norm.bias": ("bert.embeddings.LayerNorm.bias",),
}
_BLOCK: Names = {  # each with a weight and a bias
    "attention.qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "attention.out": ("attention.output.dense",),
    "attention_norm": ("attention.output.LayerNorm",),
    "inner": ("intermediate.dense",),
    "outer": ("output.dense",),
    "norm": ("output.LayerNorm",),
}
POOLER: Names = {
    "pooler.weight": ("bert.pooler.dense.weight",),
    "pooler.bias": ("bert.pooler.dense.bias",),
}
MASKED: Names = {
    "masked.dense.weight": ("cls.predictions.transform.dense.weight",),
    "masked.dense.bias": ("cls.predictions.transform.dense.bias",),
    "masked.norm.weight": ("cls.predictions.transform.LayerNorm.weight",),
    "masked.norm.bias": ("cls.predictions.transform.LayerNorm.bias",),
    "masked.bias": ("cls.predictions.bias",),
}
ADJACENT: Names = {
    "adjacent.weight": ("cls.seq_relationship.weight",),
    "adjacent.bias": ("cls.seq_relationship.bias",),
}

# The output layer, which transformers ties to these: files have it or leave it out.
TIED = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
_BUFFERS = {"bert.embeddings.position_ids", "bert.embeddings.token_type_ids"}  # 0, 1, 2, … and zeros
_OLD = [(re.compile(r"LayerNorm\.gamma$"), "LayerNorm.weight"), (re.compile(r"LayerNorm\.beta$"), "LayerNorm.bias")]


def encoder_names(n_layers: int) -> Names:
    """The tensors every BERT has."""
    names: Names = dict(_EMBEDDINGS)
    for number in range(n_layers):
        for ours, theirs in _BLOCK.items():
            for kind in ("weight", "bias"):
                names[f"stack.{number}.{ours}.{kind}"] = tuple(
                    f"bert.encoder.layer.{number}.{name}.{kind}" for name in theirs
                )
    return names


def canonical(names: Iterable[str]) -> dict[str, str]:
    """The names of a file, each with the one that BertForPreTraining gives it today; buffers are left out.

    >>> canonical(["embeddings.LayerNorm.gamma", "embeddings.position_ids"])
    {'embeddings.LayerNorm.gamma': 'bert.embeddings.LayerNorm.weight'}
    """
    names = list(names)
    prefixed = any(name.startswith("bert.") for name in names)
    found = {name: _today(name, prefixed) for name in names}
    return {name: today for name, today in found.items() if today not in _BUFFERS}


def _today(name: str, prefixed: bool) -> str:
    for old, new in _OLD:
        name = old.sub(new, name)
    if not prefixed and name.split(".")[0] in ("embeddings", "encoder", "pooler"):
        name = f"bert.{name}"
    return name
