"""ELMo as its authors release it: options.json and weights in HDF5."""

from __future__ import annotations

import json
import logging
import math
from itertools import takewhile
from pathlib import Path

import h5py
import numpy as np
import torch
from pydantic import ValidationError

from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.errors import BadFile, Mistake, listed
from polyseme.files import write_file
from polyseme.formats.elmo_layout import TOKEN_PROJECTION, Array, Options, options, tensors, to_file, to_ours
from polyseme.formats.tensors import fill
from polyseme.text import word_lists
from polyseme.text.characters import CharacterTokenizer

NAME = "elmo_hdf5"

_OPTIONS, _WEIGHTS, _VOCABULARY = "options.json", "lm_weights.hdf5", "vocab.txt"
_DAMAGE = (
    OSError,
    RuntimeError,
    KeyError,
    ValueError,
    MemoryError,
)  # what h5py raises for a damaged file, by where the damage is

_MOST_PACKED = 1100  # bytes in one; gzip comes to 1032 where all are zeros

_log = logging.getLogger(__name__)


def sniff(path: Path) -> bool:
    """Whether this is a folder with …options.json and …hdf5, or one of the two with the other beside it."""
    return bool(_options_at(path) and _weights_at(path))


def read(path: Path) -> Pretrained:
    """The biLM in a folder, or in a pair of files of which either is named; its softmax is not in such files."""
    options_file, weights_file = _pair(path)
    found = _read_options(options_file)
    config, arrays = _read_weights(weights_file, found, options_file)
    with torch.inference_mode(False):  # parameters made in inference mode could not learn, nor tell when they change
        with torch.device("meta"):  # they come from the file: draw none
            encoder = ElmoEncoder(config)
        fill(encoder, to_ours(config, arrays), str(weights_file))
    vocabulary = weights_file.with_name(_VOCABULARY)
    words = tuple(word_lists.read_distinct(vocabulary)) if vocabulary.is_file() else None
    tokenizer = CharacterTokenizer(config.max_characters, words)
    return Pretrained(tokenizer, encoder.eval(), {"source": {"format": NAME, "file": weights_file.name}})


def write(pretrained: Pretrained, folder: Path) -> None:
    """A folder, which is there, that bilm-tf and AllenNLP read too; it has no place for the softmax."""
    encoder, tokenizer = pretrained.encoder, pretrained.tokenizer
    if not isinstance(encoder, ElmoEncoder) or not isinstance(tokenizer, CharacterTokenizer):
        raise Mistake(f"This layout holds ELMo only; found {type(encoder).__name__}. Save it as a native folder.")
    if pretrained.lm is not None:
        _log.warning("ELMo's own layout has no place for the softmax, so it is left out")
    state = {name: tensor.float().cpu() for name, tensor in encoder.state_dict().items()}
    write_file(folder / _OPTIONS, json.dumps(options(encoder.config), indent=1))
    with h5py.File(folder / _WEIGHTS, "w") as file:
        for name, array in to_file(encoder.config, state):
            file.create_dataset(name, data=array)
    if tokenizer.vocabulary is not None:
        word_lists.write(folder / _VOCABULARY, tokenizer.vocabulary)


def _pair(path: Path) -> tuple[Path, Path]:
    """The options and the weights: those two whose names begin alike, where there are several."""
    all_options, all_weights = _options_at(path), _weights_at(path)
    if not all_options or not all_weights:
        raise BadFile(
            f"{path}: wanted a release of ELMo, …options.json with …weights.hdf5 beside it. Name either file."
        )
    if path.is_dir() and len(all_options) > 1:
        raise BadFile(
            f"{path} holds several models: {listed(file.name for file in all_options)}. Name one of the files."
        )
    pairs = [(o, w) for o in all_options for w in all_weights]
    return max(pairs, key=lambda pair: _n_alike(pair[0].name, pair[1].name))


def _n_alike(one: str, other: str) -> int:
    """How many characters two names begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _options_at(path: Path) -> list[Path]:
    if path.suffix == ".json":
        return [path] if path.is_file() and "options" in path.name else []
    return sorted((path if path.is_dir() else path.parent).glob("*options*.json"))


def _weights_at(path: Path) -> list[Path]:
    if path.is_file() and path.suffix in (".hdf5", ".h5"):
        return [path]
    if not path.is_dir() and path.suffix != ".json":
        return []
    folder = path if path.is_dir() else path.parent
    return sorted(folder.glob("*weights*.hdf5")) or sorted(folder.glob("*.hdf5"))


def _read_options(path: Path) -> Options:
    try:
        return Options.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise BadFile(f"{path}: {_first(error)}. Wanted the options of a character-based biLM.") from None


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'the file'}: {problem['msg']}"


def _read_weights(path: Path, found: Options, options_file: Path) -> tuple[ElmoConfig, dict[str, Array]]:
    """The tensors the options speak of, all and no others; shapes are compared before anything is read."""
    try:
        with h5py.File(path, "r") as file:
            names = _names(file)
            as_wide = sum(n for _, n in found.char_cnn.filters) == found.lstm.projection_dim
            config = found.config(token_projection=TOKEN_PROJECTION in names or not as_wide)
            _check(path, file, names, config)
            return config, {name: file[name][()] for name in names}
    except ValidationError as error:
        raise BadFile(f"{options_file}: {_first(error)}.") from None
    except BadFile:
        raise
    except _DAMAGE as error:
        raise BadFile(f"{path} is no HDF5 file or a damaged one ({error}). Fetch it again.") from None


def _names(file: h5py.File) -> list[str]:
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def _check(path: Path, file: h5py.File, names: list[str], config: ElmoConfig) -> None:
    wanted = {stored.name: stored.shape for stored in tensors(config)}
    if missing := sorted(wanted.keys() - set(names)):
        raise BadFile(
            f"{path} lacks {listed(missing)}, which its options speak of. Are these the options of this file?"
        )
    if extra := sorted(set(names) - wanted.keys()):
        raise BadFile(f"{path} has {listed(extra)}, unknown to its options. Are these the options of this file?")
    for name, shape in wanted.items():
        if problem := _problem(file[name], shape):
            raise BadFile(f"{path}: {name} {problem}. Are these the options of this file?")


def _problem(dataset: h5py.Dataset, shape: tuple[int, ...]) -> str | None:
    if dataset.shape != shape:
        return f"has the shape {dataset.shape}; its options want {shape}"
    if dataset.dtype != np.float32:
        return f"is of type {dataset.dtype}; wanted float32"
    if dataset.is_virtual or dataset.external:
        return "keeps its values in another file; wanted them in this one"
    stored = dataset.id.get_storage_size()
    if stored * (_MOST_PACKED if dataset.compression else 1) < dataset.nbytes:
        return f"has {stored} bytes of values; wanted {dataset.nbytes}"
    if dataset.chunks and dataset.id.get_num_chunks() < math.prod(map(_n_parts, dataset.shape, dataset.chunks)):
        return "lacks a part of its values"  # which HDF5 would take for zeros
    return None


def _n_parts(size: int, of_chunk: int) -> int:
    return -(-size // of_chunk)
