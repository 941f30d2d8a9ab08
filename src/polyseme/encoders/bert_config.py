"""What a BERT is made of: the numbers in its config.json, and how its weights begin."""

from collections.abc import Callable
from functools import partial

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake, did_you_mean, listed

ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),  # Google's own form
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
    "relu": partial(torch.threshold, threshold=0, value=0),
}  # all take out=
LEAST = -0.171  # no activation gives less


class BertConfig(BaseModel):
    """What config.json says, in its own names; what else it says is kept and written back."""

    model_config = ConfigDict(frozen=True, extra="allow")

    vocab_size: int = Field(30_522, ge=1, le=100_000_000)
    hidden_size: int = Field(768, ge=1, le=1_000_000)
    num_hidden_layers: int = Field(12, ge=0, le=1000)
    num_attention_heads: int = Field(12, ge=1, le=100_000)
    intermediate_size: int = Field(3072, ge=1, le=10_000_000)
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = Field(0.1, ge=0, le=1)
    attention_probs_dropout_prob: float = Field(0.1, ge=0, le=1)
    max_position_embeddings: int = Field(512, ge=1, le=10_000_000)
    type_vocab_size: int = Field(2, ge=1, le=100_000)
    initializer_range: float = Field(0.02, gt=0)
    layer_norm_eps: float = Field(1e-12, gt=0)
    pad_token_id: int | None = 0
    position_embedding_type: str = "absolute"
    is_decoder: bool = False

    # ours: which of the parts above the encoder there are
    pooler: bool = True
    masked_head: bool = True
    adjacent_head: bool = True


def refuse(config: BertConfig) -> None:
    """What a config.json can ask for and this encoder is not."""
    if config.position_embedding_type != "absolute":
        raise Mistake(
            f"position_embedding_type is {config.position_embedding_type!r}; only the paper's 'absolute' is known."
        )
    if config.is_decoder:
        raise Mistake("is_decoder is true: a BERT that reads left to right. Only encoders are known here.")
    if config.hidden_act not in ACTIVATIONS:
        raise Mistake(
            f"hidden_act is {config.hidden_act!r}; known are {listed(ACTIVATIONS)}."
            f"{did_you_mean(config.hidden_act, ACTIVATIONS)}"
        )


def initialise(module: nn.Module, spread: float) -> None:
    """As the paper's code does it: normal, cut at two standard deviations; biases zero."""
    if isinstance(module, nn.Linear | nn.Embedding) and not module.weight.is_meta:
        nn.init.trunc_normal_(module.weight, std=spread, a=-2 * spread, b=2 * spread)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
