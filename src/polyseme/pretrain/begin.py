"""One call from raw text to a model on disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.errors import Mistake
from polyseme.files import damage, locked
from polyseme.formats import load, save
from polyseme.layers.softmax import Softmax
from polyseme.pretrain import static
from polyseme.pretrain.claim import Begin, refuse_strangers
from polyseme.pretrain.corpus import Corpus, Sentences, prepare
from polyseme.pretrain.elmo import BiLm, ElmoObjective, Text
from polyseme.pretrain.recipes import ElmoRecipe, Recipe, StaticRecipe
from polyseme.pretrain.rows import Rows
from polyseme.pretrain.run import Report, run
from polyseme.text.characters import MARKERS, CharacterTokenizer
from polyseme.text.vocab import Vocabulary

Tell = Callable[[Report], None]

_VALID_ROWS, _VALID_UNROLL = 16, 64  # rows of text that is held out
_VALID_PLACES = 2000  # a row, at the least: each begins without a state, amid a sentence


def pretrain(
    recipe: Recipe,
    corpus: Sequence[str],
    out: Path | str,
    valid: Sequence[str] = (),
    init: Path | str | None = None,
    split: bool = False,
    field: str = "text",
    errors: str = "strict",
    tell: Tell = lambda report: None,
) -> Path:
    """Make an encoder from raw text in the folder `out`; killed at any moment, the same call goes on where it was.

    `field` is where jsonl and parquet hold the text; errors="replace" reads bytes that are no UTF-8 as U+FFFD.
    """
    out = Path(out)
    reading = {"split": "spaces" if split else "rules", "field": field, "errors": errors}
    begin = Begin(recipe, tuple(corpus), tuple(valid), str(init) if init else None, reading)
    if isinstance(recipe, StaticRecipe) and init:
        raise Mistake("Static vectors are trained anew each time: leave --init out.")
    refuse_strangers(out)
    with locked(out):
        begin.claim(out)
        if (out / "model").is_dir() and damage(out / "model") is None:
            return _finished(out)
        text = prepare(corpus, valid, out, reading, lambda done, total: tell(Report("Reading", done, total)))
        if isinstance(recipe, StaticRecipe):
            _static(text, recipe, out, tell)
        elif isinstance(recipe, ElmoRecipe):
            objective = _elmo(text, recipe, load(init) if init else None)
            for report in run(out, recipe, objective, text.facts):
                tell(report)
        return _finished(out)


def _finished(out: Path) -> Path:
    """The model is all that is kept; what it was made from takes much room."""
    for name in ("corpus", "valid", "checkpoints"):
        shutil.rmtree(out / name, ignore_errors=True)
    return out


def _static(text: Corpus, recipe: StaticRecipe, out: Path, tell: Tell) -> None:
    made = static.train(text, recipe, out, lambda done, total: tell(Report("Training", done, total)))
    provenance = {"polyseme": version("polyseme"), "recipe": recipe.model_dump(), **text.facts}
    save(Pretrained(made.tokenizer, made.encoder, provenance), out / "model", force=True)


def _elmo(text: Corpus, recipe: ElmoRecipe, init: Pretrained | None) -> ElmoObjective:
    torch.manual_seed(recipe.seed)
    if init is not None and not isinstance(init.encoder, ElmoEncoder):
        raise Mistake(f"--init wants an ELMo; found one of the family {init.encoder.family!r}.")
    encoder = (
        init.encoder if init is not None and isinstance(init.encoder, ElmoEncoder) else ElmoEncoder(recipe.encoder)
    )
    tokenizer, softmax = _output(text, recipe, encoder.config, init)
    encoder.config = encoder.config.model_copy(update={"n_words": len(softmax.weight)})
    rows = _rows(text.train, recipe.rows, recipe.unroll, recipe.seed, recipe)
    n_held_out = min(_VALID_ROWS, max(1, len(text.valid.ids) // _VALID_PLACES))
    held_out = _rows(text.valid, n_held_out, _VALID_UNROLL, 0, None)
    if rows.steps_an_epoch == 0:
        raise Mistake(
            f"The text has {rows.n_places:,} words, too few for {recipe.rows} rows of {recipe.unroll}. "
            "Give more text, or fewer rows with --set rows=…"
        )
    model = BiLm(encoder, softmax).train()
    return ElmoObjective(
        recipe, model, tokenizer, Text(rows, text.train.types, tokenizer), Text(held_out, text.valid.types, tokenizer)
    )


def _output(
    text: Corpus, recipe: ElmoRecipe, config: ElmoConfig, init: Pretrained | None
) -> tuple[CharacterTokenizer, Softmax]:
    """The words that are predicted: those of the model that is gone on from, or the most frequent ones of the text."""
    if init is not None and isinstance(init.lm, Softmax) and isinstance(init.tokenizer, CharacterTokenizer):
        return init.tokenizer, init.lm
    vocabulary = Vocabulary.from_shards(text.shards, recipe.n_words, special=MARKERS, unknown=MARKERS[2])
    vocabulary.check_order()  # the sampled softmax draws frequent words by their place
    tokenizer = CharacterTokenizer(config.max_characters, vocabulary.words)
    return tokenizer, Softmax(config.width, len(vocabulary))


def _rows(sentences: Sentences, n_rows: int, unroll: int, seed: int, recipe: ElmoRecipe | None) -> Rows:
    shuffle = recipe.shuffle if recipe else "none"
    parts = (sentences.ids, sentences.sentences, sentences.documents)
    return Rows(*parts, n_rows, unroll, seed, shuffle, whole=recipe is None)
