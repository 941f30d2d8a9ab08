"""Google's original BERT checkpoints, read without TensorFlow by way of Hugging Face's names and settings."""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from polyseme.encoders import Pretrained
from polyseme.errors import BadFile, Mistake, listed
from polyseme.formats.hf_bert import config_from
from polyseme.formats.hf_bert_weights import build
from polyseme.formats.tensor_files import Stored
from polyseme.formats.tf_bert_names import HEADS, WORDS, Settings, hf_name, is_training, shapes
from polyseme.formats.tf_checkpoint import candidates, find, first_version, names, read_tensor
from polyseme.formats.tf_index import Entry
from polyseme.text.wordpiece import WordPiece

NAME = "tf_bert"

_log = logging.getLogger(__name__)

CONFIG, VOCAB = "bert_config.json", "vocab.txt"
_CASE = re.compile(r"uncased|(?<![a-z])cased|multilingual_L|chinese_L", re.I)  # the last two are uncased as well
_FLOATS = ("float32", "float16", "bfloat16", "float64")

# The file says "gelu" and means the function of that name in google-research/bert: the exact one, with erf, in the code
# of the first releases (2018), the tanh form from early 2019 on. No file says which it was trained with; they differ by
# at most 5e-4. Ours is what the reference computes with it today. Hugging Face's copies of these models say "gelu",
# which is erf there.
_ACTIVATIONS = {"gelu": "gelu_new"}


def sniff(path: Path) -> bool:
    """Whether this is a BERT checkpoint of TensorFlow: also where it must be refused, with a reason, on reading."""
    found = candidates(path)
    if not found and not first_version(path):
        return False
    return (_folder(path) / CONFIG).is_file() or any(_is_bert(prefix) for prefix in found)


def read(path: Path) -> Pretrained:
    """The BERT of a checkpoint, with those heads of its pretraining that it holds."""
    prefix = find(path)
    source = str(prefix)
    tensors = {name: Stored.of(torch.tensor(np.ascontiguousarray(t))) for name, t in hf_tensors(prefix).items()}
    settings = config_from(config(prefix), str(prefix.parent / CONFIG))
    encoder, heads, _ = build(settings, tensors, source)
    words = _beside(prefix.parent, VOCAB)
    tokenizer = WordPiece.of_vocabulary(words, lower_case(prefix), settings.max_position_embeddings)
    if tokenizer.n_pieces > settings.vocab_size:
        raise BadFile(
            f"{words} has {tokenizer.n_pieces} pieces, {source} {settings.vocab_size}. Copy the one it came with."
        )
    provenance = {"source": {"format": NAME, "file": prefix.name, "left_out": left_out(prefix)}}
    return Pretrained(tokenizer, encoder, provenance, heads)


def write(pretrained: Pretrained, path: Path) -> None:
    raise Mistake("TensorFlow's checkpoints are read, not written. Write hf_bert, which is what others read today.")


def config(path: Path) -> dict[str, Any]:
    """The settings as Hugging Face's config.json has them."""
    settings = _settings(find(path).parent).model_dump()
    activation = settings["hidden_act"].lower()
    return {
        "layer_norm_eps": 1e-12,  # in the reference's code, not in its file
        **settings,
        "model_type": "bert",
        "hidden_act": _ACTIVATIONS.get(activation, activation),
    }


def lower_case(path: Path) -> bool:
    """Whether the tokenizer lower-cases: no file says it, so look at the names, then for capitals in the vocabulary."""
    prefix = find(path)
    told = _CASE.search(f"{prefix.absolute().parent.name}/{prefix.name}")
    if told:
        return told[0].lower() != "cased"
    pieces = _beside(prefix.parent, VOCAB).read_bytes()
    return re.search(rb"^(?!\[)[^\n]*[A-Z]", pieces, re.M) is None  # [UNK] and its like are always capital


def hf_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The tensors under the names of BertForPreTraining, where possible as read-only views of the file.

    A decoder that is tied to the word embeddings has no tensor of its own, there and here.
    """
    prefix = find(path)
    chosen, spare = _choose(prefix)
    if spare:
        _log.warning("%s: left out, not part of a pretrained BERT: %s", prefix, listed(spare))
    tensors = {}
    for name, entry in chosen.items():
        tensor = read_tensor(prefix, entry).astype(np.float32, copy=False)
        tensors[hf_name(name)] = tensor.T if name.endswith("/kernel") else tensor  # torch has (out, in)
    return tensors


def left_out(path: Path) -> list[str]:
    """The tensors that hf_tensors() leaves out, other than the optimiser's: the head of another task, for example."""
    return _choose(find(path))[1]


def _choose(prefix: Path) -> tuple[dict[str, Entry], list[str]]:
    """The tensors of the model, and the names of those that are neither its nor the optimiser's."""
    found = names(prefix)
    if WORDS not in found:
        raise BadFile(_no_bert(prefix, found))
    absent = tuple(head for head in HEADS if not any(name.startswith(head) for name in found))
    wanted = {name: shape for name, shape in shapes(_settings(prefix.parent)) if not name.startswith(absent)}
    spare = [name for name in found if name not in wanted and not is_training(name)]
    _refuse(prefix, "lacks", [name for name in wanted if name not in found])
    _refuse(prefix, "also has", [name for name in spare if name.startswith(("bert/", *HEADS))])
    _refuse(prefix, "has another shape for", list(_misshapen(found, wanted)))
    _refuse(prefix, "has no floating-point numbers in", [name for name in wanted if found[name].dtype not in _FLOATS])
    return {name: found[name] for name in wanted}, spare


def _refuse(prefix: Path, what: str, tensors: list[str]) -> None:
    if tensors:
        raise BadFile(
            f"{prefix} is not the BERT that its {CONFIG} describes: it {what} {listed(tensors)}. "
            f"Put the {CONFIG} that came with this checkpoint beside it; other models than BERT are not known here."
        )


def _no_bert(prefix: Path, found: dict[str, Entry]) -> str:
    if "_CHECKPOINTABLE_OBJECT_GRAPH" in found:
        return (
            f"{prefix} was saved by TensorFlow 2, with names of Python objects. Found: {listed(found, 3)}. Wanted: the "
            f"names of google-research/bert, such as {WORDS}. Take the model's release for TensorFlow 1."
        )
    return (
        f"{prefix} is no checkpoint of BERT: it has no {WORDS}. Found: {listed(found)}. "
        "Give a checkpoint of google-research/bert."
    )


def _misshapen(found: dict[str, Entry], wanted: dict[str, tuple[int, ...]]) -> Iterator[str]:
    for name, shape in wanted.items():
        if found[name].shape != shape:
            yield f"{name} ({found[name].shape}; {shape} is wanted)"


def _settings(folder: Path) -> Settings:
    path = _beside(folder, CONFIG)
    try:
        return Settings.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as problem:
        wrong = listed(" ".join([*map(str, error["loc"]), error["msg"]]) for error in problem.errors())
        raise BadFile(f"{path}: {wrong}. Put the one that came with the checkpoint in its place.") from None
    except (ValueError, RecursionError) as problem:
        raise BadFile(
            f"{path} is not JSON: {problem}. Put the one that came with the checkpoint in its place."
        ) from None


def _beside(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        found = sorted(file.name for file in folder.iterdir())
        raise BadFile(f"No {name} in {folder}. Found: {listed(found)}. Copy it beside them.")
    return folder / name


def _is_bert(prefix: Path) -> bool:
    try:
        return WORDS in names(prefix)
    except BadFile:
        return False


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent
