"""Recipes: everything that decides what a pretraining makes, except the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from polyseme.encoders.awd_lstm import AwdLstmConfig
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.elmo import ElmoConfig
from polyseme.encoders.encoder import Directions
from polyseme.errors import Mistake, did_you_mean, listed
from polyseme.pretrain.masking import Whole
from polyseme.pretrain.rows import Shuffle
from polyseme.train import optim
from polyseme.train.changes import change

Fraction = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Beta = Annotated[float, Field(ge=0, lt=1)]


class Recipe(BaseModel):
    """What all recipes say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    family: str
    epochs: Annotated[int, Field(ge=1)] = 5
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1


class StaticRecipe(Recipe):
    """word2vec's skip-gram with negative sampling, with fastText's n-grams on request; gensim does the training."""

    family: Literal["static"] = "static"
    width: Annotated[int, Field(ge=1, le=10_000)] = 100
    window: Annotated[int, Field(ge=1)] = 5
    negatives: Annotated[int, Field(ge=1)] = 5
    min_count: Annotated[int, Field(ge=1)] = 5
    max_words: Annotated[int, Field(ge=1)] = 400_000
    sample: Annotated[float, Field(ge=0, le=1)] = 1e-3
    rate: Positive = 0.025
    fold_case: bool = True
    subwords: bool = False
    n_buckets: Annotated[int, Field(ge=1)] = 200_000


class NeuralRecipe(Recipe):
    """What all recipes of networks say."""

    steps: Annotated[int, Field(ge=1)] | None = None  # where it is given, epochs are not asked
    company: bool = False  # word vectors begin as the company that words keep in the text, not at random
    optimizer: optim.Name = "adamw"
    rate: Positive = 1e-3
    betas: tuple[Beta, Beta] = (0.9, 0.999)
    patience: Annotated[int, Field(ge=1)] = 5  # of nt_asgd: evaluations that must not be better before it averages
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    most_norm: Positive = 10.0  # the gradient is clipped to it
    schedule: Literal["constant", "warm_up_linear", "slanted_triangular"] = "constant"
    warm_up: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.1  # a part of the steps, or from 1 on their number
    cut: Annotated[float, Field(gt=0, lt=1)] = 0.1  # of slanted_triangular: the part of the steps in which it rises
    ratio: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 32.0  # and its highest rate to its lowest


class ElmoRecipe(NeuralRecipe):
    """A biLM as in Peters et al. 2018: two LSTM language models that share their token encoder and their softmax."""

    family: Literal["elmo"] = "elmo"
    encoder: ElmoConfig = ElmoConfig()
    n_words: Annotated[int, Field(ge=10)] = 800_000  # of the softmax; rarer words are <UNK> there, never in the input
    rows: Annotated[int, Field(ge=1)] = 128  # read side by side, each with its own state
    unroll: Annotated[int, Field(ge=1)] = 20
    shuffle: Shuffle = "documents"
    reset: Fraction = 0.0  # how often a row's state begins anew, as it does for every text that is read alone
    loss: Literal["full", "sampled"] = "sampled"
    n_samples: Annotated[int, Field(ge=1)] = 8192
    epochs: Annotated[int, Field(ge=1)] = 10
    optimizer: optim.Name = "adagrad"
    rate: Positive = 0.2


class AwdRecipe(NeuralRecipe):
    """ULMFiT's language model (Howard & Ruder 2018): an AWD-LSTM that predicts the next piece, or the one before."""

    family: Literal["awd_lstm"] = "awd_lstm"
    encoder: AwdLstmConfig = AwdLstmConfig(n_words=60_000, hidden_width=1150)  # n_words is the most there may be
    min_count: Annotated[int, Field(ge=1)] = 3  # rarer words are xxunk
    directions: Directions = "forward"  # "both" is two models side by side
    rows: Annotated[int, Field(ge=1)] = 64  # read side by side, each with its own state
    bptt: Annotated[int, Field(ge=5)] = 70  # pieces a step; most steps have a few more or less, some only half
    reset: Fraction = 0.0  # how often a row's state begins anew, as it does for every text that is read alone
    loss: Literal["full", "sampled"] = "full"
    n_samples: Annotated[int, Field(ge=1)] = 4096
    ar: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2.0  # the weight of the penalty on large activations
    tar: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0  # and on activations that change from step to step
    discriminative: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1.0  # a layer's rate to that of the one below
    epochs: Annotated[int, Field(ge=1)] = 10
    rate: Positive = 4e-3
    betas: tuple[Beta, Beta] = (0.7, 0.99)
    most_norm: Positive = 0.25
    schedule: Literal["constant", "warm_up_linear", "slanted_triangular"] = "slanted_triangular"

    @field_validator("encoder")
    @classmethod
    def _one_direction(cls, encoder: AwdLstmConfig) -> AwdLstmConfig:
        if encoder.bidirectional:
            raise ValueError("say directions=both instead of encoder.bidirectional")
        return encoder


class BertRecipe(NeuralRecipe):
    """Masked words, with or without sentence adjacency, as in Devlin et al. 2019."""

    family: Literal["bert"] = "bert"
    encoder: BertConfig = BertConfig.model_validate({})  # its vocab_size is that of the vocabulary
    n_pieces: Annotated[int, Field(ge=10, le=10_000_000)] = 30_522  # of the vocabulary, at the most
    lower_case: bool = True
    positions: Annotated[int, Field(ge=8)] = 8192  # a step, at the most; special pieces are positions too
    positions_at_once: Annotated[int, Field(ge=8)] = 8192  # a larger step goes in parts, so that memory is bounded
    length: Annotated[int, Field(ge=8)] = 128  # positions of a sequence
    long_length: Annotated[int, Field(ge=8)] | None = 512  # of those in the last part of the steps, if it is more
    long_part: Fraction = 0.1
    shifted: bool = False  # before the long ones, sequences begin at any place, not at the first
    short: Fraction = 0.1  # of the sequences are shorter on purpose
    adjacent: bool = True  # pairs, and whether the second part follows the first
    whole: Whole = False  # word: all pieces of a word are masked together; span: a few words in a row
    predict: Annotated[float, Field(gt=0, le=1)] = 0.15  # of the positions
    predict_end: Annotated[float, Field(gt=0, le=1)] | None = None  # where it goes to, step by step
    corrupt: Fraction | None = None  # of the positions; None: those that are predicted
    corrupt_end: Fraction | None = None
    masked: Fraction = 0.8  # of what is corrupted is [MASK],
    random: Fraction = 0.1  # any piece, and the rest stays as it is
    max_predictions: Annotated[int, Field(ge=1)] | None = None  # refused where it would lower the rate
    centred: bool = False  # at the end what all vectors of a layer share goes into biases: the same model, told apart
    domain_words: Annotated[int, Field(ge=0)] = 0  # frequent words of the text that --init's vocabulary gets anew
    epochs: Annotated[int, Field(ge=1)] = 40
    rate: Positive = 1e-4
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    most_norm: Positive = 1.0
    schedule: Literal["constant", "warm_up_linear"] = "warm_up_linear"
    warm_up: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01

    @property
    def longest(self) -> int:
        """Positions of the longest sequence."""
        return max(self.length, self.long_length or 0) if self.long_part else self.length


_SMALL_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
_TINY_FILTERS = ((1, 16), (2, 32), (3, 48), (4, 64), (5, 64), (6, 64))


def _elmo(cell_width: int, width: int, n_highway: int, **settings: Any) -> ElmoRecipe:
    filters = settings.pop("filters", _SMALL_FILTERS)
    dropout = settings.pop("dropout", 0.1)
    config = ElmoConfig(cell_width=cell_width, width=width, n_highway=n_highway, filters=filters, dropout=dropout)
    return ElmoRecipe(encoder=config, **settings)


def _ulmfit(n_words: int, embedding_width: int, hidden_width: int, n_layers: int, **settings: Any) -> AwdRecipe:
    config = AwdLstmConfig(
        n_words=n_words, embedding_width=embedding_width, hidden_width=hidden_width, n_layers=n_layers,
        dropout_multiplier=settings.pop("dropout_multiplier", 1.0),
    )  # fmt: skip
    return AwdRecipe(encoder=config, **settings)


def _bert(n_layers: int, width: int, dropout: float = 0.1, **settings: Any) -> BertRecipe:
    """Heads are 64 wide and the inner layer four times the outer one, as in all of the released sizes."""
    sizes = {"num_hidden_layers": n_layers, "hidden_size": width, "num_attention_heads": width // 64}
    drops = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    spread = {"initializer_range": settings.pop("spread", 0.02)}
    config = BertConfig.model_validate({**sizes, **drops, **spread, "intermediate_size": 4 * width})
    return BertRecipe(encoder=config, **settings)


# A small model that learns for minutes, not days: begun with what can be counted, wider spread weights, and short
# sequences first. Without these it stays at the words' frequencies for thousands of steps (docs/log.md).
_SOON: dict[str, Any] = {
    "company": True, "spread": 0.06, "length": 32, "long_length": 128, "long_part": 0.4, "warm_up": 0.1,
}  # fmt: skip


RECIPES: dict[str, Recipe] = {
    "static": StaticRecipe(),
    "static-subwords": StaticRecipe(subwords=True),
    "static-starter": StaticRecipe(max_words=40_000),
    "elmo-tiny": _elmo(
        512, 128, 1, filters=_TINY_FILTERS, dropout=0.3, loss="full", n_words=10_000, rows=32,
        optimizer="adamw", rate=2e-3, schedule="warm_up_linear", warm_up=0.05, most_norm=5.0, reset=0.05,
    ),
    "elmo-starter": _elmo(
        768, 128, 1, filters=_TINY_FILTERS, dropout=0.1, n_words=20_000, n_samples=2048, rows=64, optimizer="adamw",
        rate=2e-3, schedule="warm_up_linear", warm_up=0.05, most_norm=5.0, reset=0.05, steps=27_000, company=True,
    ),
    "elmo-domain": _elmo(  # for --init: the sizes are those of the model that goes on
        512, 128, 1, dropout=0.1, n_words=100_000, rows=32, n_samples=4096, optimizer="adamw", rate=5e-4,
        schedule="warm_up_linear", warm_up=0.1, most_norm=5.0, reset=0.05, epochs=1,
    ),
    "elmo-small": _elmo(1024, 128, 1),
    "elmo-medium": _elmo(2048, 256, 1),
    "elmo-original": _elmo(4096, 512, 2),
    "ulmfit-tiny": _ulmfit(
        15_000, 200, 400, 2, dropout_multiplier=0.3, min_count=2, rows=32, epochs=5, rate=8e-3, weight_decay=0.01,
        most_norm=1.0, reset=0.02,
    ),
    "ulmfit-starter": _ulmfit(
        20_000, 200, 512, 2, dropout_multiplier=0.2, steps=2600, rate=5e-3, weight_decay=0.01, most_norm=1.0,
        reset=0.02, loss="sampled", n_samples=2048, directions="both", company=True,
    ),
    "ulmfit-domain": _ulmfit(  # for --init, as in section 3.2; the text's 60,000 most frequent words join the model's
        60_000, 400, 1150, 3, dropout_multiplier=0.3, discriminative=2.6, weight_decay=0.01, most_norm=1.0, reset=0.02,
        loss="sampled", epochs=1,
    ),
    "ulmfit-small": _ulmfit(
        30_000, 256, 512, 3, dropout_multiplier=0.2, epochs=1, rate=5e-3, weight_decay=0.01, most_norm=1.0,
        reset=0.02, loss="sampled",
    ),
    "ulmfit-paper": _ulmfit(60_000, 400, 1150, 3),
    "bert-tiny": _bert(2, 128, 0.0, n_pieces=8000, positions=4096, rate=2e-3, epochs=10, **_SOON),
    "bert-starter": _bert(
        4, 256, 0.0, n_pieces=14_000, positions=4096, predict=0.2, rate=1.5e-3, betas=(0.9, 0.98), steps=9600,
        shifted=True, centred=True, **_SOON,
    ),
    "bert-domain": _bert(  # for --init
        2, 128, positions=4096, long_length=None, adjacent=False, rate=2e-4, warm_up=0.1, epochs=1,
    ),
    "bert-mini": _bert(4, 256, 0.0, n_pieces=16_000, rate=1e-3, warm_up=0.1),
    "bert-small": _bert(4, 512, positions=16_384, rate=5e-4, warm_up=0.05),
    "bert-base": _bert(12, 768, positions=131_072, positions_at_once=4096, rate=1e-4, steps=1_000_000),
}  # fmt: skip


ABOUT = {  # the same names, for people
    "static": "skip-gram, 100 wide, 5 negatives",
    "static-subwords": "the same with fastText's n-grams, so that unseen words have vectors",
    "static-starter": "the static vectors in the box",
    "elmo-tiny": "a biLM 512/128, 10,000 words: a quarter of an hour of one core for a million words",
    "elmo-starter": "the ELMo in the box: 768/128, 20,000 words",
    "elmo-domain": "for --init: an ELMo of any size goes on with a task's own text",
    "elmo-small": "the released small size, 1024/128, with the paper's settings",
    "elmo-medium": "the released medium size, 2048/256",
    "elmo-original": "the released size of the paper, 4096/512",
    "ulmfit-tiny": "an AWD-LSTM of two layers, 200/400, 15,000 words",
    "ulmfit-starter": "the AWD-LSTMs in the box, forward and backward: two layers, 200/512, 20,000 words",
    "ulmfit-domain": "for --init: ULMFiT's stage 2, an AWD-LSTM of any size goes on with a task's own text",
    "ulmfit-small": "three layers, 256/512, 30,000 words: for some ten million words of text",
    "ulmfit-paper": "the paper's: three layers, 400/1150, 60,000 words",
    "bert-tiny": "2 layers of 128, 8,000 pieces: learns within ten minutes",
    "bert-starter": "the BERT in the box: 4 layers of 256, 14,000 pieces",
    "bert-domain": "for --init: a BERT of any size goes on with a task's own text",
    "bert-mini": "4 layers of 256, 16,000 pieces",
    "bert-small": "4 layers of 512, 30,522 pieces",
    "bert-base": "12 layers of 768 with the paper's settings: a million steps of 131,072 positions",
}


def recipe(name: str, changes: Sequence[str] = ()) -> Recipe:
    """The recipe of this name with changes such as "epochs=3" or "encoder.dropout=0.2"."""
    if name not in RECIPES:
        raise Mistake(f"There is no recipe {name!r}; there are {listed(RECIPES, 20)}.{did_you_mean(name, RECIPES)}")
    values = RECIPES[name].model_dump()
    for text in changes:
        _apply(values, text)
    try:
        return type(RECIPES[name]).model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise Mistake(f"The recipe {name} cannot have {place}={first['input']!r}: {first['msg']}.") from None


def _apply(values: dict[str, Any], text: str) -> None:
    path, value = change(text)
    *outer, last = path.split(".")
    for part in outer:
        if not isinstance(values.get(part), dict):
            groups = [name for name, inner in values.items() if isinstance(inner, dict)]
            raise Mistake(f"Cannot set {text!r}: {part} holds no settings; those that do: {listed(groups)}.")
        values = values[part]
    if last not in values:
        raise Mistake(f"Cannot set {text!r}. There are {listed(values, 30)}.{did_you_mean(last, values)}")
    values[last] = value
