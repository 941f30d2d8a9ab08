"""What an ELMo's pretraining starts from: rows of words, the words that are predicted, a model."""

from __future__ import annotations

import math

import numpy as np
import torch

from polyseme.encoders import Encoder, Pretrained
from polyseme.encoders.elmo import BiLstm, ElmoConfig, ElmoEncoder
from polyseme.errors import Mistake
from polyseme.layers.softmax import Ranking, Softmax
from polyseme.pretrain.company import company
from polyseme.pretrain.corpus import Corpus, Sentences, prepare
from polyseme.pretrain.elmo import BiLm, ElmoObjective, Text, WordTypes
from polyseme.pretrain.job import Job
from polyseme.pretrain.recipes import ElmoRecipe
from polyseme.pretrain.rows import VALID_UNROLL, Rows, n_valid_rows
from polyseme.text.characters import MARKERS, CharacterTokenizer
from polyseme.text.shards import Shards
from polyseme.text.vocab import Vocabulary


def begin(recipe: ElmoRecipe, job: Job) -> ElmoObjective:
    init = job.init
    if init is not None and not isinstance(init.encoder, ElmoEncoder):
        raise Mistake(f"--init wants an ELMo; found one of the family {init.encoder.family!r}.")
    text = prepare(job)
    torch.manual_seed(recipe.seed)
    encoder = ElmoEncoder(recipe.encoder) if init is None else _with_dropout(init.encoder, recipe.encoder.dropout)
    tokenizer, softmax = _output(text, recipe, encoder.config, init)
    encoder.config = encoder.config.model_copy(update={"n_words": len(softmax.weight)})
    rows = _rows(text.train, recipe.rows, recipe.unroll, recipe.seed, recipe)
    held_out = _rows(text.valid, n_valid_rows(len(text.valid.ids)), VALID_UNROLL, 0, None)
    if rows.steps_an_epoch == 0:
        raise Mistake(
            f"The text has {rows.n_places:,} words, too few for {recipe.rows} rows of {recipe.unroll}. "
            "Give more text, or fewer rows with --set rows=…"
        )
    words = WordTypes(text.train.types, tokenizer)
    ranking = _ranking(text.shards, words, len(softmax.weight))
    if recipe.company and job.is_new:
        _keep_company(softmax, text.train, words, job)
    others = words if text.valid.types is text.train.types else WordTypes(text.valid.types, tokenizer)
    model = BiLm(encoder, softmax).train()
    return ElmoObjective(recipe, model, tokenizer, Text(rows, words), Text(held_out, others), ranking, text.facts)


def _ranking(shards: Shards, words: WordTypes, n_words: int) -> Ranking:
    """What is predicted by its frequency in this text: a model that is gone on from has the order of another one."""
    n_sentences = torch.tensor([shards.meta.n_sentences] * 2)  # where one ends the next begins
    counts = torch.cat([n_sentences, torch.from_numpy(np.array(shards.counts))])
    return Ranking.of(torch.zeros(n_words, dtype=torch.long).index_add_(0, words.number, counts))


def _keep_company(softmax: Softmax, text: Sentences, words: WordTypes, job: Job) -> None:
    """Let what is predicted begin with the company it keeps, and as likely as it is."""
    number = words.number[len(words.number) - len(text.types) :].numpy()  # of each type, behind those of the markers
    n_words, width = softmax.weight.shape
    vectors, likely = company(text.ids, n_words, width, lambda ids: number[ids], job.counting)
    with torch.no_grad():
        softmax.weight.copy_(vectors / math.sqrt(width))
        softmax.bias.copy_(likely)


def _with_dropout(encoder: Encoder, dropout: float) -> ElmoEncoder:
    """The model's sizes are kept, the dropout is the recipe's."""
    assert isinstance(encoder, ElmoEncoder)
    encoder.config = encoder.config.model_copy(update={"dropout": dropout})
    for layer in encoder.layers:
        assert isinstance(layer, BiLstm)
        layer.dropout = dropout
    return encoder


def _output(
    text: Corpus, recipe: ElmoRecipe, config: ElmoConfig, init: Pretrained | None
) -> tuple[CharacterTokenizer, Softmax]:
    """The words that are predicted: those of the model that is gone on from, or the most frequent ones of the text."""
    if init is not None and isinstance(init.lm, Softmax) and isinstance(init.tokenizer, CharacterTokenizer):
        return init.tokenizer, init.lm
    vocabulary = Vocabulary.from_shards(text.shards, recipe.n_words, special=MARKERS, unknown=MARKERS[2])
    tokenizer = CharacterTokenizer(config.max_characters, vocabulary.words)
    return tokenizer, Softmax(config.width, len(vocabulary))


def _rows(sentences: Sentences, n_rows: int, unroll: int, seed: int, recipe: ElmoRecipe | None) -> Rows:
    shuffle = recipe.shuffle if recipe else "none"
    parts = (sentences.ids, sentences.sentences, sentences.documents)
    return Rows(*parts, n_rows, unroll, seed, shuffle, whole=recipe is None)
