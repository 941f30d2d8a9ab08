"""Models of the Hugging Face hub: those it has brought here before, and new ones on request."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyseme.errors import BadFile, MissingExtra
from polyseme.files import json_object

logger = logging.getLogger(__name__)

PREFIX = "hub:"  # only a name that begins so is ever asked of the network
_WEIGHTS = ["*.safetensors", "*.bin"]
_WANTED = ["*.json", *_WEIGHTS, "vocab.txt", "1_Pooling/*"]


def fetched(name: str) -> Path:
    """The folder of a model by its name there, such as google-bert/bert-base-uncased, with what it lacks fetched.

    Without the hub, or its client, it is what was fetched before: maybe by another program that left out how texts are
    pooled.
    """
    try:
        hub = _hub()
        return Path(hub.snapshot_download(name, allow_patterns=_WANTED, ignore_patterns=["*/*.bin", "onnx/*"]))
    except Exception as error:  # its errors are many, and partly those of its HTTP client
        if (found := kept(name)) is not None:
            logger.warning("%s is taken as it was fetched before: %s", name, _first_line(error))
            return found
        if isinstance(error, MissingExtra):
            raise
        raise BadFile(f"The Hugging Face hub did not give {name!r}: {_first_line(error)}") from error


def kept(name: str) -> Path | None:
    """The folder that the hub's cache holds for this name."""
    return dict(_cached()).get(name)


def all_kept() -> dict[str, Path]:
    """Every model in the hub's cache that can be read, by name."""
    return dict(sorted(_cached()))


def _cached() -> Iterator[tuple[str, Path]]:
    for place in _cache().glob("models--*/refs/main"):
        folder = place.parent.parent
        snapshot = folder / "snapshots" / place.read_text().strip()
        if _is_readable(snapshot) and _has_weights(snapshot):
            yield folder.name.removeprefix("models--").replace("--", "/"), snapshot


def _is_readable(snapshot: Path) -> bool:
    """Whether it is a model of ours or a BERT: the cache holds all that its user ever took from the hub."""
    config = snapshot / "config.json"
    facts = (json_object(config) if config.is_file() else None) or {}
    return "polyseme" in facts or facts.get("model_type") == "bert"


def _has_weights(snapshot: Path) -> bool:
    """Other programs, and fetching that was broken off, leave a part of the files."""
    return any(any(snapshot.glob(pattern)) for pattern in _WEIGHTS)


def _cache() -> Path:
    """Where the hub's own client keeps what it has brought."""
    caches = os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")
    home = Path(os.environ.get("HF_HOME", Path(caches) / "huggingface"))
    return Path(os.environ.get("HF_HUB_CACHE", home / "hub")).expanduser()


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise MissingExtra("huggingface_hub", "hub", "Fetching a model") from None
    return huggingface_hub


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
