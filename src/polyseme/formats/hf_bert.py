"""Folders of BERT in the Hugging Face layout: config.json, weights, tokenizer."""

import json
import logging
from pathlib import Path
from typing import Any

import safetensors.torch
from pydantic import ValidationError

from polyseme.encoders import Pretrained
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.errors import BadFile, Mistake, listed
from polyseme.formats import provenance
from polyseme.formats.hf_bert_weights import build, to_theirs
from polyseme.formats.sentence import sentence_settings, write_sentence
from polyseme.formats.tensor_files import stored
from polyseme.text.wordpiece import WordPiece

NAME = "hf_bert"

logger = logging.getLogger(__name__)

_CONFIG_LIMIT = 10_000_000  # bytes
# ours, which the tensors themselves tell, and an old name of "dtype"
_NOT_THEIRS = {"pooler", "masked_head", "adjacent_head", "torch_dtype"}


def sniff(path: Path) -> bool:
    """Whether this is such a folder."""
    try:
        fields = _config_fields(path)
    except (BadFile, OSError):
        return False
    return fields.get("model_type") == "bert"


def read(path: Path) -> Pretrained:
    """The BERT of a folder, with those heads of its pretraining that it holds."""
    config = config_from(_config_fields(path), str(path / "config.json"))
    tokenizer = WordPiece.read(path)
    weights, tensors = stored(path)
    try:
        encoder, heads, left_out = build(config, tensors, str(path / weights))
    except BadFile:
        raise
    except Mistake as error:
        raise BadFile(f"{path / 'config.json'}: {error}") from None
    if tokenizer.n_pieces > config.vocab_size:
        raise BadFile(
            f"{path}: the tokenizer has {tokenizer.n_pieces} pieces, the encoder {config.vocab_size}. They are of two "
            "models; copy the vocabulary that belongs to these weights."
        )
    if tokenizer.n_pieces < config.vocab_size:
        logger.info("%s: %d of %d rows have no piece.", path, config.vocab_size - tokenizer.n_pieces, config.vocab_size)
    known = provenance.read(path) or {"source": {"format": NAME, "file": weights}}
    if left_out:
        logger.warning("%s: left out, being no part of the encoder: %s", path / weights, listed(left_out))
        known["left_out"] = left_out
    if sentence := sentence_settings(path):
        known["sentence"] = sentence
    window = min(tokenizer.window, config.max_position_embeddings)
    return Pretrained(tokenizer.with_window(window), encoder, known, heads)


def write(pretrained: Pretrained, folder: Path) -> None:
    """The folder, which must exist, as transformers and sentence-transformers load it."""
    encoder, heads, tokenizer = pretrained.encoder, pretrained.lm, pretrained.tokenizer
    if not isinstance(encoder, BertEncoder) or not isinstance(tokenizer, WordPiece):
        raise Mistake(f"This layout is for BERT; found {type(encoder).__name__} with {type(tokenizer).__name__}.")
    assert heads is None or isinstance(heads, BertHeads)
    architecture = _architecture(heads)
    tensors = to_theirs(encoder, heads)
    if architecture == "BertModel":
        tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    fields = encoder.config.model_dump(exclude=_NOT_THEIRS)
    fields |= {"model_type": "bert", "architectures": [architecture], "dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(fields, indent=1), "utf-8")
    tokenizer.write(folder)
    if sentence := pretrained.provenance.get("sentence"):
        write_sentence(sentence, encoder.config.hidden_size, folder)
    provenance.write(pretrained.provenance, folder)


def config_from(fields: dict[str, Any], source: str) -> BertConfig:
    """A config.json's fields, checked; `source` is how errors call it."""
    try:
        return BertConfig.model_validate(fields)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise BadFile(f"{source} is no config of a BERT. {listed(problems)}.") from None


def _config_fields(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        found = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
        raise BadFile(f"No config.json in {folder}. Found: {listed(found)}. Copy it beside them.")
    if path.stat().st_size > _CONFIG_LIMIT:
        raise BadFile(f"{path} has {path.stat().st_size:,} bytes; a config has a few thousand. Copy it again.")
    try:
        fields = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not JSON: {error}. Copy it again.") from None
    if not isinstance(fields, dict):
        raise BadFile(f"{path} holds a {type(fields).__name__}; wanted an object in braces. Copy it again.")
    return fields


def _architecture(heads: BertHeads | None) -> str:
    """transformers' name for a BERT with these heads."""
    masked, adjacent = heads is not None and heads.masked is not None, heads is not None and heads.adjacent is not None
    if masked:
        return "BertForPreTraining" if adjacent else "BertForMaskedLM"
    return "BertForNextSentencePrediction" if adjacent else "BertModel"
