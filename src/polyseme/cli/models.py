"""polyseme models: the encoders that can be asked for by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer


def run(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """List the encoders in the box and those of the Hugging Face hub that were fetched before.

    Every one of these names can stand where an encoder is asked for, as can any file or folder of a known format.
    """
    from polyseme.formats.hub import PREFIX, all_kept
    from polyseme.starters import starters

    found = [_facts(name, path, "in the box") for name, path in starters().items()]
    found += [_facts(name, path, "fetched") for name, path in all_kept().items()]
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    _show(found)
    print("\nThose in the box have read English alone.")
    print(f"Any other of the Hugging Face hub: {PREFIX}google-bert/bert-base-uncased. Your own: a file, or a folder.")


def _facts(name: str, path: Path, where: str) -> dict[str, Any]:
    """Without loading it; the files of the hub's cache are links."""
    config, scores = _json(path / "config.json"), _json(path / "polyseme.json").get("metrics")
    files = [file for file in path.rglob("*") if file.is_file()]
    return {
        "name": name,
        "family": config.get("family") or config.get("model_type") or "?",
        "megabytes": round(sum(file.stat().st_size for file in files) / 1e6, 1),
        "where": where,
        "scores": scores if isinstance(scores, dict) else {},
        "path": str(path),
    }


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _show(found: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("name", "family", "MB", "where", "scores"):
        table.add_column(title, justify="right" if title == "MB" else "left", overflow="fold")
    for one in found:
        numbers = {key: value for key, value in one["scores"].items() if _is_score(key, value)}
        scores = ", ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in numbers.items())
        table.add_row(one["name"], one["family"], f"{one['megabytes']:.1f}", one["where"], scores)
    Console().print(table if found else "None yet.")


def _is_score(name: str, value: Any) -> bool:
    """Something measured on held-out text, rather than of the step it was measured at."""
    return isinstance(value, int | float) and name not in ("step", "loss", "norm", "rate")
