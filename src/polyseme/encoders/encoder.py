"""What every encoder is: a Batch in, all layers out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel
from torch import nn

from polyseme.errors import Mistake
from polyseme.layers.products import Precision
from polyseme.text.tokenizer import Tokenizer
from polyseme.types import Batch, Encoding, State

Directions = Literal["forward", "backward", "both"]


class Encoder(nn.Module):
    """Turns a Batch into an Encoding. forward() keeps nothing on the module: same Batch, same vectors."""

    family: ClassVar[str]
    config: BaseModel
    precision: Precision | None = None  # of its products where nothing learns; None: it has one way to compute them

    @property
    def widths(self) -> tuple[int, ...]:
        """The width of each layer, bottom first."""
        raise NotImplementedError

    def blocks(self) -> list[nn.Module]:
        """The parts that freeze and thaw together, bottom first."""
        raise NotImplementedError

    def forward(self, batch: Batch, state: State | None = None) -> Encoding:
        raise NotImplementedError

    @property
    def budget(self) -> int:
        """How many positions a batch has when many texts are read."""
        return 8192

    @property
    def small(self) -> bool:
        """Whether threads that each take whole batches are faster than all threads on each batch."""
        return False

    def directed(self, encoding: Encoding, directions: Directions) -> Encoding:
        """What one direction of reading gave; most encoders do not read in two."""
        if directions != "both":
            raise Mistake(f"directions={directions!r} is for encoders that read in two; this is {self.family}.")
        return encoding


@dataclass(frozen=True)
class Family:
    """How an encoder of one kind is built again from what its folder says."""

    name: str
    config: type[BaseModel]
    encoder: Callable[[Any], Encoder]  # from its config
    tokenizer: type[Tokenizer]
    lm: Callable[[Any], nn.Module] | None = None  # the output layer of its pretraining, from the encoder's config
    n_wanted: Callable[[Any, Any], tuple[int, int]] | None = None  # (tokenizer, config): rows it names and has
