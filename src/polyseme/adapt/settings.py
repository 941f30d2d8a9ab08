"""Everything that decides what a fit makes, except the encoder and the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyseme.adapt.inputs import Pairs
from polyseme.adapt.rows import Layers, Pool
from polyseme.adapt.strategies import Tune
from polyseme.encoders import Encoder
from polyseme.errors import Mistake, did_you_mean, listed

Fraction = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
HeadKind = Literal["linear", "bilstm", "ulmfit"]

_EPOCHS = {"frozen": 10, "full": 3, "gradual": 3}  # with labels enough; gradual thawing takes one more a block
_LEAST_STEPS = 300  # few labels are read more often: fine-tuning of too few steps learns nothing
MOST_EPOCHS = 30  # to come to them


class Settings(BaseModel):
    """None means: what suits the encoder and the way of tuning; `filled` says what that is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    layers: Layers = "top"
    tune: Tune = "full"
    pool: Pool | None = None
    pairs: Pairs | None = None
    head: HeadKind | None = None
    crf: bool = False
    epochs: Count | None = None
    batch_size: Count = 32
    rate: Positive | None = None  # of the encoder's top block
    head_rate: Positive | None = None
    block_decay: Annotated[float, Field(gt=0, le=1)] | None = None  # how much slower each block learns than the next
    warm_up: Fraction = 0.1
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    dropout: Fraction | None = None  # in the head
    most_norm: Positive = 1.0
    average: Fraction = 0.0  # the last part of all steps, over which weights are averaged
    reinit: Annotated[int, Field(ge=0)] = 0  # top blocks that begin anew
    standardize: bool | None = None  # rows have mean 0 and spread 1 when they come to the head, whatever the encoder's
    mix_norm: bool = False
    mix_penalty: Annotated[float, Field(ge=0)] = 0.0
    valid: Fraction = 0.1  # the part that is held out where no other text is given
    patience: Count | None = None  # epochs without gain after which it stops
    most_windows: Count | None = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    cache: bool = True
    cache_dtype: Literal["float32", "float16"] = "float32"

    @property
    def changes_encoder(self) -> bool:
        """Whether the encoder is another one after the fit."""
        return self.tune != "frozen" or self.reinit > 0

    def filled(self, encoder: Encoder, level: str, heads: Sequence[str], n_examples: int) -> Settings:
        """The same with every None that has a default here filled in."""
        frozen, n_blocks = self.tune == "frozen", len(encoder.blocks())
        chosen = {
            "head": "ulmfit" if self.tune == "gradual" and "ulmfit" in heads else "linear",
            "epochs": self._epochs(n_blocks, n_examples),
            "rate": _rate(encoder, self.tune),
            "head_rate": _head_rate(encoder, self.tune, self.head, level),
            "block_decay": {"frozen": 1.0, "full": 0.95, "gradual": 1 / 2.6}[self.tune],
            # the scale of a mix is its gamma's to learn, but a single layer's is the encoder's
            "standardize": frozen and (self.layers != "mix" or len(encoder.widths) == 1),
            "dropout": 0.1 if self.tune == "full" else 0.2,
        }
        if not frozen and level == "text" and self.most_windows is None:
            chosen["most_windows"] = 1  # one window of each text: more cost memory for each of them
        return self.model_copy(update={name: value for name, value in chosen.items() if getattr(self, name) is None})

    def _epochs(self, n_blocks: int, n_examples: int) -> int:
        enough = _EPOCHS[self.tune] + (n_blocks if self.tune == "gradual" else 0)
        steps_an_epoch = max(1, -(-n_examples // self.batch_size))
        return max(enough, min(MOST_EPOCHS, -(-_LEAST_STEPS // steps_an_epoch)))

    def refuse_unread(self, heads: Sequence[str], reads: Sequence[str]) -> None:
        """Refuse what was chosen and would change nothing: a head that is not there, a setting of another task."""
        if self.head is not None and self.head not in heads:
            raise Mistake(f"head={self.head!r} is none of those that this task is fitted with: {listed(heads)}.")
        if self.standardize and self.tune != "frozen":
            raise Mistake("standardize=True is for a frozen encoder; the rows of one that learns change. Leave it out.")
        if self.layers != "mix" and (self.mix_norm or self.mix_penalty):
            raise Mistake(f"mix_norm and mix_penalty are for layers='mix'; here it is {self.layers!r}. Leave them out.")
        for name in ("crf", "pairs", "most_windows"):
            if getattr(self, name) not in (None, False) and name not in reads:
                raise Mistake(f"{name}={getattr(self, name)!r} changes nothing in this task. Leave it out.")

    def of_words(self) -> Pool:
        """The pooling of a head that reads words: none."""
        if self.pool not in (None, "words"):
            raise Mistake(f"pool={self.pool!r} makes one row of a text; this head reads its words. Leave it out.")
        return "words"


def settings(**values: object) -> Settings:
    """Settings from loose values, with an error people understand."""
    for name in values:
        if name not in Settings.model_fields:
            raise Mistake(f"There is no setting {name!r}.{did_you_mean(name, Settings.model_fields)}")
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        wanted = _WANTED.get(name) or first["msg"].removeprefix("Input ") + "."
        raise Mistake(f"{name}={first['input']!r} cannot be: it {wanted}") from None


_WANTED = {"layers": "should be 'top', 'mix', 'last4' or the number of a layer."}  # where there are several kinds


def _rate(encoder: Encoder, tune: Tune) -> float:
    """BERT's papers fine-tune 768 columns with 5e-5 and 128 with 3e-4: about 0.04 / width."""
    if encoder.family == "bert":
        return 0.04 / encoder.widths[-1]
    if encoder.family == "static":
        return 1e-2  # most rows of a table are met once or twice in an epoch
    return 5e-3 if tune == "gradual" else 1e-3


def _head_rate(encoder: Encoder, tune: Tune, head: str | None, level: str) -> float:
    if head in (None, "linear"):
        if tune == "frozen" and level == "word":
            return 3e-2  # one tag is far more frequent than all others, which takes large weights to overcome
        if tune == "full" and encoder.family == "static":
            return 1e-2  # rows are means of small numbers
    return {"frozen": 3e-3, "full": 1e-3, "gradual": 1e-2}[tune]
