"""polyseme inspect: what a model is."""

import json
from pathlib import Path
from typing import Any

import typer

_TOLD = ("layers", "tune", "head", "pool")  # of a fitted model's settings


def run(
    model: Path = typer.Argument(help="A file or folder of any known format."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Tell what a model is, where it comes from and whether its files are whole."""
    facts = _facts(model)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, default=str))
        return
    for name, value in {**facts, "provenance": _made(facts["provenance"])}.items():
        if value is not None:
            print(f"{name:<12} {_shown(value)}")


def _task(place: Path) -> dict[str, Any] | None:
    """What stands on the encoder where it is a fitted model's."""
    from polyseme.files import json_object

    found = (json_object(place / "task.json") if (place / "task.json").is_file() else None) or {}
    kind, settings = found.get("kind"), found.get("settings")
    if not isinstance(kind, dict) or not isinstance(settings, dict):
        return None  # a task.json of somebody else
    return {"task": found.get("task"), **kind, **{name: settings.get(name) for name in _TOLD}}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else str(value)


def _made(facts: dict[str, Any]) -> str | None:
    """Where a model comes from in a line; --json has all of it."""
    from polyseme.cli.progress import clock

    parts = [facts.get(name, {}) for name in ("recipe", "corpus", "metrics", "cost")]
    if "recipe" not in facts or not all(isinstance(part, dict) for part in parts):
        return _shown(facts) if facts else None
    files = [Path(file["path"]).name for file in facts.get("corpus", {}).get("files", [])]
    scores = {name: value for name, value in facts.get("metrics", {}).items() if name not in ("loss", "norm", "rate")}
    parts = [f"polyseme pretrain ({facts['recipe'].get('family')}, seed {facts['recipe'].get('seed')})"]
    parts += [f"text: {', '.join(files)}"] if files else []
    parts += [f"{scores.pop('step'):,.0f} steps"] if "step" in scores else []
    parts += [f"{name.replace('_', ' ')} {value:.4g}" for name, value in scores.items()]
    if cost := facts.get("cost"):
        parts.append(f"{clock(cost['seconds'])} of {cost['threads']} thread{'s' * (cost['threads'] > 1)}")
    return " · ".join(parts)


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
        "fitted": _task(place),
        "words": len(getattr(pretrained.tokenizer, "words", ())) or None,
        "config": encoder.config.model_dump(),
        "files": whole,
        "provenance": pretrained.provenance,
    }
