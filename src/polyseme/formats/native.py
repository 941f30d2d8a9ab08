"""Our own folder: config.json, model.safetensors, the tokenizer's files, and polyseme.json with where it comes from."""

import json
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from polyseme.encoders import Encoder, Family, Pretrained, family
from polyseme.errors import BadFile, listed
from polyseme.files import write_file
from polyseme.formats import provenance
from polyseme.formats.fewer_bits import Weights, smaller, whole
from polyseme.formats.tensors import fill, under

NAME = "native"
VERSION = 1


class NativeConfig(BaseModel):
    """What config.json says."""

    model_config = ConfigDict(extra="forbid")

    polyseme: Annotated[int, Field(ge=1)]
    family: str
    encoder: dict[str, Any]
    lm: bool = False


def sniff(path: Path) -> bool:
    try:
        found = json.loads((path / "config.json").read_bytes()) if path.is_dir() else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "polyseme" in found


def read(path: Path) -> Pretrained:
    config, source = _config(path), str(path / "model.safetensors")
    kind = family(config.family)
    settings = _settings(kind, config, path)
    encoder, lm = _modules(kind, settings, config.lm, path / "config.json")
    tokenizer = kind.tokenizer.read(path)
    n_named, n_there = kind.n_wanted(tokenizer, settings) if kind.n_wanted else (0, 0)
    if n_named != n_there:
        raise BadFile(f"{path}: its vocabulary has {n_named} words, its weights {n_there}. Copy those of one model.")
    tensors = whole(_tensors(path / "model.safetensors"), source)
    parts = {"encoder.": encoder, **({"lm.": lm} if lm is not None else {})}
    if extra := [name for name in tensors if not name.startswith(tuple(parts))]:
        raise BadFile(f"{source} has {listed(extra)}, which its config.json does not speak of. Copy both of one model.")
    for prefix, module in parts.items():
        fill(module, under(prefix, tensors), source)
    return Pretrained(tokenizer, encoder.eval(), provenance.read(path), lm)


def write(pretrained: Pretrained, path: Path, weights: Weights = "float32") -> None:
    """Write into a folder that is there; `polyseme.save` makes one that appears all at once."""
    encoder = pretrained.encoder
    config = NativeConfig(
        polyseme=VERSION, family=encoder.family, encoder=encoder.config.model_dump(), lm=pretrained.lm is not None
    )
    write_file(path / "config.json", config.model_dump_json(indent=1))
    parts = {"encoder": encoder, **({"lm": pretrained.lm} if pretrained.lm is not None else {})}
    tensors = {
        f"{part}.{name}": tensor.detach().cpu().contiguous()
        for part, module in parts.items()
        for name, tensor in module.state_dict().items()
    }
    save_file(smaller(tensors, weights), path / "model.safetensors")
    pretrained.tokenizer.write(path)
    provenance.write(pretrained.provenance, path)


def _modules(kind: Family, settings: BaseModel, lm: bool, path: Path) -> tuple[Encoder, nn.Module | None]:
    """Without memory; what the file holds is put into them."""
    if lm and getattr(settings, "n_words", 0) is None:
        raise BadFile(f"{path} is damaged: lm is true, yet n_words, the size of that output layer, is absent.")
    try:
        with torch.device("meta"):
            return kind.encoder(settings), kind.lm(settings) if lm and kind.lm else None
    except (RuntimeError, TypeError):  # torch counts no further
        raise BadFile(f"{path} is damaged: no weights have these sizes. Copy it again.") from None


def _settings(kind: Family, config: NativeConfig, path: Path) -> BaseModel:
    try:
        return kind.config.model_validate(config.encoder)
    except ValidationError as error:
        raise BadFile(_first(error, path / "config.json")) from None


def _first(error: ValidationError, path: Path) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{path} is damaged: {place}: {first['msg']}. Copy it again."


def _config(path: Path) -> NativeConfig:
    try:
        config = NativeConfig.model_validate_json((path / "config.json").read_bytes())
    except ValidationError as error:
        raise BadFile(_first(error, path / "config.json")) from None
    if config.polyseme > VERSION:
        raise BadFile(
            f"{path} was written by a newer polyseme (format {config.polyseme}; this one reads {VERSION}). Upgrade it."
        )
    return config


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    if not path.exists():
        raise BadFile(
            f"No {path.name} in {path.parent}. Found: {listed(sorted(p.name for p in path.parent.iterdir()))}."
        )
    try:
        with safe_open(path, framework="pt") as file:  # checks the header against the file's size
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError) as error:
        raise BadFile(f"{path} cannot be read ({error}). Copy it again, and look at its permissions.") from None
