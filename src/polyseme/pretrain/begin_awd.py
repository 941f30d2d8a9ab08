"""What an AWD-LSTM's pretraining starts from: rows of marked pieces, and a model of one direction or of two."""

from __future__ import annotations

import numpy as np
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmEncoder, BidirectionalAwdLstm, TiedDecoder
from polyseme.encoders.awd_pair import apart
from polyseme.encoders.awd_vocabulary import with_vocabulary
from polyseme.errors import Mistake
from polyseme.layers.softmax import Ranking
from polyseme.pretrain import corpus as corpora
from polyseme.pretrain.awd import AwdObjective, Direction, LanguageModel
from polyseme.pretrain.company import company
from polyseme.pretrain.job import Job
from polyseme.pretrain.marked_pieces import MarkedText, prepare
from polyseme.pretrain.recipes import AwdRecipe
from polyseme.pretrain.rows import VALID_UNROLL, n_valid_rows
from polyseme.pretrain.stream import HeldOut, Stream
from polyseme.text.marked import MarkedWords


def begin(recipe: AwdRecipe, job: Job) -> AwdObjective:
    known = () if job.init is None else _known(job.init, recipe)
    corpus = corpora.prepare(job)
    text = prepare(corpus, job.folder, known, recipe.encoder.n_words, recipe.min_count)
    torch.manual_seed(recipe.seed)
    models = _new(recipe, text) if job.init is None else _grown(recipe, text, job.init)
    if recipe.company and job.is_new:
        _keep_company(list(models.values()), text, job)
    directions = [_direction(recipe, text, backward, model) for backward, model in models.items()]
    if directions[0].text.steps_an_epoch == 0:
        raise Mistake(
            f"The text has {len(text.train.ids):,} pieces, too few for {recipe.rows} rows of {recipe.bptt}. "
            "Give more text, or fewer rows with --set rows=…"
        )
    ranking = Ranking.of(torch.from_numpy(corpora.counted(text.train.ids, len(text.words))))
    return AwdObjective(recipe, directions, text.words, ranking, corpus.facts)


def _known(init: Pretrained, recipe: AwdRecipe) -> tuple[str, ...]:
    """The words of a model to go on from, once it is known to be one that this recipe can go on from."""
    if not isinstance(init.tokenizer, MarkedWords):
        raise Mistake(f"--init wants an AWD-LSTM; found one of the family {init.encoder.family!r}.")
    reads = "both" if isinstance(init.encoder, BidirectionalAwdLstm) else _named(init.tokenizer.reverse)
    if recipe.directions not in ("forward", reads):
        raise Mistake(
            f"directions={recipe.directions} was asked for; the model of --init reads {reads}. "
            "It goes on as it reads: leave directions out."
        )
    return init.tokenizer.words


def _new(recipe: AwdRecipe, text: MarkedText) -> dict[bool, LanguageModel]:
    config = recipe.encoder.model_copy(update={"n_words": len(text.words)})
    ways = [way for way in (False, True) if recipe.directions in ("both", _named(way))]
    return {backward: LanguageModel(AwdLstmEncoder(config), TiedDecoder(config)) for backward in ways}


def _keep_company(models: list[LanguageModel], text: MarkedText, job: Job) -> None:
    """Let words begin with the company they keep, and as likely as they are; both directions share that start."""
    weight = models[0].encoder.embedding.weight
    (n_words, width), spread = weight.shape, weight.std().item()
    vectors, likely = company(text.train.ids, n_words, width, lambda ids: ids.astype(np.int64), job.counting)
    known = vectors.any(1)
    with torch.no_grad():
        for model in models:
            model.encoder.embedding.weight[known] = vectors[known] * spread
            model.decoder.bias.copy_(likely)


def _grown(recipe: AwdRecipe, text: MarkedText, init: Pretrained) -> dict[bool, LanguageModel]:
    """The model with the text's new words: its sizes are kept, the dropouts are the recipe's."""
    grown = with_vocabulary(init, text.words)
    parts = apart(grown) if isinstance(grown.encoder, BidirectionalAwdLstm) else (grown,)
    models = {}
    for part in parts:
        encoder, decoder, tokenizer = part.encoder, part.lm, part.tokenizer
        assert isinstance(encoder, AwdLstmEncoder)
        assert isinstance(tokenizer, MarkedWords)
        rates = {"dropouts": recipe.encoder.dropouts, "dropout_multiplier": recipe.encoder.dropout_multiplier}
        encoder.config = encoder.config.model_copy(update=rates)
        if not isinstance(decoder, TiedDecoder):  # an encoder that was released alone
            decoder = TiedDecoder(encoder.config)
        decoder.config = encoder.config
        models[tokenizer.reverse] = LanguageModel(encoder, decoder)
    return models


def _direction(recipe: AwdRecipe, text: MarkedText, backward: bool, model: LanguageModel) -> Direction:
    return Direction(
        backward,
        model,
        Stream(text.train, recipe.rows, recipe.bptt, recipe.seed, backward),
        HeldOut(text.valid, n_valid_rows(len(text.valid.ids)), VALID_UNROLL, backward),
    )


def _named(backward: bool) -> str:
    return "backward" if backward else "forward"
