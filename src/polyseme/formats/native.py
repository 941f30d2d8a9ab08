"""Our own folder: config.json, model.safetensors, the tokenizer's files, and polyseme.json with where it comes from."""

import json
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from polyseme.encoders import Pretrained, family
from polyseme.errors import BadFile, listed
from polyseme.files import write_file
from polyseme.formats.tensors import fill, under

NAME = "polyseme"
VERSION = 1


class NativeConfig(BaseModel):
    """What config.json says."""

    model_config = ConfigDict(extra="forbid")

    polyseme: int
    family: str
    encoder: dict[str, Any]
    lm: bool = False


def sniff(path: Path) -> bool:
    try:
        return path.is_dir() and "polyseme" in json.loads((path / "config.json").read_text())
    except (OSError, ValueError):
        return False


def read(path: Path) -> Pretrained:
    config = _config(path)
    kind = family(config.family)
    tensors = _tensors(path / "model.safetensors")
    with torch.device("meta"):
        settings = kind.config.model_validate(config.encoder)
        encoder = kind.encoder(settings)
        lm = kind.lm(settings) if config.lm and kind.lm else None
    source = str(path / "model.safetensors")
    fill(encoder, under("encoder.", tensors), source)
    if lm is not None:
        fill(lm, under("lm.", tensors), source)
    provenance = json.loads((path / "polyseme.json").read_text()) if (path / "polyseme.json").exists() else {}
    return Pretrained(kind.tokenizer.read(path), encoder.eval(), provenance, lm)


def write(pretrained: Pretrained, path: Path) -> None:
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
    save_file(tensors, path / "model.safetensors")
    pretrained.tokenizer.write(path)
    write_file(path / "polyseme.json", json.dumps(pretrained.provenance, indent=1))


def _config(path: Path) -> NativeConfig:
    try:
        config = NativeConfig.model_validate_json((path / "config.json").read_text())
    except ValidationError as error:
        raise BadFile(f"{path / 'config.json'} is not a configuration of ours: {error}") from None
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
    except SafetensorError as error:
        raise BadFile(f"{path} is damaged ({error}). Copy it again.") from None
