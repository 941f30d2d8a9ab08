"""The tensors of Google's BERT: their names and shapes, and what Hugging Face calls them."""

import re
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

WORDS = "bert/embeddings/word_embeddings"
HEADS = ("bert/pooler/", "cls/predictions/", "cls/seq_relationship/")  # a file may lack any of them, but as a whole

_TRAINING = re.compile(r"(.*/)?(adam_[mv]|Adam(_1)?|AdamWeightDecayOptimizer(_1)?)|global_step|beta[12]_power")
_Size = Annotated[int, Field(gt=0, lt=1 << 31)]
_Rate = Annotated[float, Field(ge=0, lt=1)]


class Settings(BaseModel):
    """What bert_config.json says; what else it says is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    vocab_size: _Size
    hidden_size: _Size
    num_hidden_layers: Annotated[int, Field(gt=0, le=1000)]
    num_attention_heads: _Size
    intermediate_size: _Size
    max_position_embeddings: _Size
    type_vocab_size: _Size
    hidden_act: str = "gelu"
    hidden_dropout_prob: _Rate = 0.1
    attention_probs_dropout_prob: _Rate = 0.1
    initializer_range: float = 0.02

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> Self:
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(f"hidden_size {self.hidden_size} cannot be shared by {self.num_attention_heads} heads")
        return self


def shapes(settings: Settings) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every tensor of the model and its shape, both as TensorFlow has them."""
    width, inner = settings.hidden_size, settings.intermediate_size
    yield WORDS, (settings.vocab_size, width)
    yield "bert/embeddings/token_type_embeddings", (settings.type_vocab_size, width)
    yield "bert/embeddings/position_embeddings", (settings.max_position_embeddings, width)
    yield from _norm("bert/embeddings", width)
    for number in range(settings.num_hidden_layers):
        block = f"bert/encoder/layer_{number}"
        for part in ("query", "key", "value"):
            yield from _dense(f"{block}/attention/self/{part}", width, width)
        yield from _dense(f"{block}/attention/output/dense", width, width)
        yield from _norm(f"{block}/attention/output", width)
        yield from _dense(f"{block}/intermediate/dense", width, inner)
        yield from _dense(f"{block}/output/dense", inner, width)
        yield from _norm(f"{block}/output", width)
    yield from _dense("bert/pooler/dense", width, width)
    yield from _dense("cls/predictions/transform/dense", width, width)
    yield from _norm("cls/predictions/transform", width)
    yield "cls/predictions/output_bias", (settings.vocab_size,)
    yield "cls/seq_relationship/output_weights", (2, width)
    yield "cls/seq_relationship/output_bias", (2,)


def hf_name(name: str) -> str:
    """Hugging Face's name of a tensor.

    >>> hf_name("bert/encoder/layer_11/attention/self/query/kernel")
    'bert.encoder.layer.11.attention.self.query.weight'
    >>> hf_name("cls/predictions/output_bias")
    'cls.predictions.bias'
    """
    *scope, last = re.sub(r"\blayer_(\d+)\b", r"layer/\1", name).split("/")
    if last.endswith("_embeddings"):
        scope.append(last)
    return ".".join([*scope, "bias" if last in ("bias", "beta", "output_bias") else "weight"])


def is_training(name: str) -> bool:
    """Whether only an optimiser needs this tensor.

    >>> is_training("bert/pooler/dense/kernel/adam_m"), is_training("bert/pooler/dense/kernel")
    (True, False)
    """
    return _TRAINING.fullmatch(name) is not None


def _dense(scope: str, n_in: int, n_out: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{scope}/kernel", (n_in, n_out)
    yield f"{scope}/bias", (n_out,)


def _norm(scope: str, width: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{scope}/LayerNorm/gamma", (width,)
    yield f"{scope}/LayerNorm/beta", (width,)
