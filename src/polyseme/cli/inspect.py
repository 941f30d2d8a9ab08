"""polyseme inspect: what a model is."""

import json
from pathlib import Path
from typing import Any

import typer


def run(
    model: Path = typer.Argument(help="A file or folder of any known format."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Tell what a model is, where it comes from and whether its files are whole."""
    facts = _facts(model)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, default=str))
        return
    for name, value in facts.items():
        shown = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else value
        print(f"{name:<12} {shown}")


def _facts(path: Path) -> dict[str, Any]:
    from polyseme.files import MANIFEST, damage
    from polyseme.formats import format_of, load
    from polyseme.formats.places import model_path

    path = model_path(path)
    pretrained = load(path)
    encoder = pretrained.encoder
    place = path.parent if (path.parent / "task.json").is_file() else path  # a fitted model is more than its encoder
    whole = (damage(place) or "whole") if (place / MANIFEST).exists() else "not hashed"
    return {
        "model": str(path),
        "format": format_of(path).NAME,
        "family": encoder.family,
        "layers": list(encoder.widths),
        "parameters": sum(parameter.numel() for parameter in encoder.parameters()),
        "blocks": len(encoder.blocks()),
        "lm": pretrained.lm is not None,
        "words": len(getattr(pretrained.tokenizer, "words", ())) or None,
        "config": encoder.config.model_dump(),
        "files": whole,
        "provenance": pretrained.provenance,
    }
