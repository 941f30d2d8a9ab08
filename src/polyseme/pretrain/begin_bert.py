"""What a BERT's pretraining starts from: pieces of text, a vocabulary, a model."""

from __future__ import annotations

import numpy as np
import torch
from pydantic import BaseModel

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_growth import completed, with_rows
from polyseme.encoders.bert_heads import BertHeads
from polyseme.errors import Mistake, listed
from polyseme.pretrain.bert import BertObjective, Text
from polyseme.pretrain.bert_start import expect_company, expect_frequencies, expect_places
from polyseme.pretrain.job import Job
from polyseme.pretrain.masked_lm import MaskedLm
from polyseme.pretrain.masking import n_wanted
from polyseme.pretrain.pairs import Sequences
from polyseme.pretrain.pieces import PieceCorpus, Pieces, prepare
from polyseme.pretrain.recipes import BertRecipe
from polyseme.pretrain.turns import Phases, Turns
from polyseme.pretrain.vocabulary import learned, pieces_of, with_domain_words
from polyseme.text.order import seed_for, shuffled
from polyseme.text.wordpiece import WordPiece
from polyseme.train.report import Report

_MOST_EVALUATED = 400  # sequences of the text held out
_LONG, _HELD_OUT = 1, 2  # what else than short sequences is drawn from a seed


def begin(recipe: BertRecipe, job: Job) -> BertObjective:
    _check(recipe, job)
    corpus = prepare(job, lambda: _tokenizer(recipe, job), least=2 if recipe.adjacent else 1)
    torch.manual_seed(recipe.seed)
    encoder, heads, absent = _model(recipe, corpus.tokenizer, job)
    model = MaskedLm(encoder, heads).train()
    if job.is_new:
        expect_frequencies(model, corpus.train.ids)
        expect_places(model)
        if recipe.company:
            expect_company(model, corpus.train.ids, recipe.longest, job)
    text, n_steps = _text(recipe, corpus)
    longest, known = text.phases.longest, 0 if job.init is None else corpus.tokenizer.window
    tokenizer = corpus.tokenizer.with_window(max(longest, known))
    facts = corpus.facts
    if absent:
        job.tell(Report("Beginning", 1, 1, said=f"made new: {listed(absent)}"))
        facts = {**facts, "made_new": absent}
    return BertObjective(recipe, model, tokenizer, text, n_steps, facts)


def _check(recipe: BertRecipe, job: Job) -> None:
    """What no single setting can tell."""
    if recipe.masked + recipe.random > 1:
        raise Mistake(f"masked={recipe.masked} and random={recipe.random} are parts of one whole; together at most 1.")
    if recipe.corrupt is None and recipe.corrupt_end is not None:
        raise Mistake(f"corrupt_end={recipe.corrupt_end} is where corrupt goes to. Set corrupt too.")
    if recipe.positions < recipe.longest:
        raise Mistake(
            f"positions={recipe.positions} a step are less than one sequence of {recipe.longest}. Raise positions, or "
            "lower length and long_length."
        )
    if recipe.shifted and recipe.longest == recipe.length:
        raise Mistake(
            "shifted=true is for sequences that longer ones come after; here all have one length. Set long_length and "
            "long_part, or shifted=false."
        )
    if recipe.domain_words and job.init is None:
        raise Mistake("domain_words are added to the vocabulary of a model that is gone on from. Give it with --init.")
    if job.init is not None and not isinstance(job.init.encoder, BertEncoder):
        raise Mistake(f"--init wants a BERT; found one of the family {job.init.encoder.family!r}.")
    _check_length(recipe, recipe.encoder if job.init is None else job.init.encoder.config)
    _check_predictions(recipe)


def _check_length(recipe: BertRecipe, config: BaseModel) -> None:
    assert isinstance(config, BertConfig)
    longest, n_places = recipe.longest, config.max_position_embeddings
    if longest > n_places:
        raise Mistake(
            f"Sequences of {longest} positions are asked for; this encoder has {n_places}. Lower length or long_length."
        )


def _check_predictions(recipe: BertRecipe) -> None:
    """A cap undoes a higher rate without a word, so it is not applied but refused."""
    most = int(n_wanted(np.array([recipe.longest]), max(recipe.predict, recipe.predict_end or 0))[0])
    if recipe.max_predictions is not None and recipe.max_predictions < most:
        raise Mistake(
            f"max_predictions={recipe.max_predictions} would undo the rate: of {recipe.longest} positions {most} are "
            f"predicted. Raise it to {most}, or leave it out."
        )


def _tokenizer(recipe: BertRecipe, job: Job) -> WordPiece:
    """The vocabulary of the model that is gone on from, with words of the text if they are wanted; or a new one."""
    if job.init is None:
        return learned(recipe, job)
    assert isinstance(job.init.tokenizer, WordPiece)
    if not recipe.domain_words:
        return job.init.tokenizer
    return with_domain_words(job.init.tokenizer, recipe.domain_words, job)


def _model(recipe: BertRecipe, tokenizer: WordPiece, job: Job) -> tuple[BertEncoder, BertHeads, list[str]]:
    """A new model, or an older one with what it lacks, and the names of that."""
    if job.init is None:
        parts = {"pooler": recipe.adjacent, "masked_head": True, "adjacent_head": recipe.adjacent}
        config = recipe.encoder.model_copy(update={"vocab_size": tokenizer.n_pieces, **parts})
        return BertEncoder(config), BertHeads(config), []
    before, old, lm = job.init.tokenizer, job.init.encoder, job.init.lm
    assert isinstance(before, WordPiece)
    assert isinstance(old, BertEncoder)
    dropouts = ("hidden_dropout_prob", "attention_probs_dropout_prob")  # are the recipe's; the sizes are kept
    old.config = old.config.model_copy(update={name: getattr(recipe.encoder, name) for name in dropouts})
    encoder, heads, absent = completed(old, lm if isinstance(lm, BertHeads) else None, recipe.adjacent)
    n_before = before.n_pieces  # asked once: it counts the whole vocabulary
    words = {word: number for word, number in tokenizer.backend.get_vocab().items() if number >= n_before}
    if words:
        rows = {number: pieces_of(before, word) for word, number in words.items()}
        encoder, heads = with_rows(encoder, heads, rows)
    return encoder, heads, absent


def _text(recipe: BertRecipe, corpus: PieceCorpus) -> tuple[Text, int]:
    """What is read, and in how many steps."""
    short = _turns(recipe, corpus.train, recipe.length, recipe.seed)
    n_steps = recipe.steps or recipe.epochs * short.steps_an_epoch
    n_long = round(n_steps * recipe.long_part) if recipe.longest > recipe.length else 0
    long = None
    if n_long:
        long = _turns(recipe, corpus.train, recipe.longest, seed_for(recipe.seed, _LONG))
        _ = long.steps_an_epoch  # too little text for it is told now, not after most of the steps
    sequences = _held_out(recipe, corpus.valid)
    phases = Phases(short, long, n_steps - n_long)
    return Text(corpus.train.ids, phases, corpus.valid.ids, sequences, corpus.words_a_piece), n_steps


def _turns(recipe: BertRecipe, text: Pieces, length: int, seed: int) -> Turns:
    n_a_step = max(1, recipe.positions // length)
    return Turns(text.sentences, text.documents, length, n_a_step, recipe.adjacent, recipe.short, seed)


def _held_out(recipe: BertRecipe, text: Pieces) -> Sequences:
    """The same few sequences, from all over the text, whatever the seed of the run, as long as it will ever read."""
    found = _turns(recipe, text, recipe.longest, _HELD_OUT).epoch(0)
    return found[shuffled(np.arange(min(len(found), _MOST_EVALUATED)), len(found), _HELD_OUT, 0)]
