"""How a sentence-transformers folder makes one vector of a text: modules.json and what it names."""

import json
from pathlib import Path
from typing import Any

_LIMIT = 1_000_000  # bytes


def sentence_settings(folder: Path) -> dict[str, Any]:
    """Pooling (cls, mean, max …), whether the vector is normalised, and how many pieces are read; {} if not said."""
    modules = _json(folder / "modules.json")
    if not isinstance(modules, list):
        return {}
    kinds = {str(module.get("type", "")).rsplit(".", 1)[-1]: module for module in modules if isinstance(module, dict)}
    if "Pooling" not in kinds:
        return {}
    settings = {"pooling": _pooling(folder, str(kinds["Pooling"].get("path", ""))), "normalise": "Normalize" in kinds}
    bert = _json(folder / "sentence_bert_config.json")
    if isinstance(bert, dict) and isinstance(bert.get("max_seq_length"), int):
        settings["max_pieces"] = bert["max_seq_length"]
    others = sorted(kinds.keys() - {"Transformer", "Pooling", "Normalize"})
    return settings | ({"other_modules": others} if others else {})


def _pooling(folder: Path, name: str) -> str:
    if Path(name).name != name:
        return "unknown"  # a path out of the folder is not followed
    config = _json(folder / name / "config.json")
    config = config if isinstance(config, dict) else {}
    if isinstance(config.get("pooling_mode"), str):
        return str(config["pooling_mode"])
    modes = [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    return "+".join(key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token") for key in modes)


def _json(path: Path) -> Any:
    """What a small JSON file holds; None where there is none or it is not JSON."""
    try:
        return json.loads(path.read_text("utf-8")) if path.stat().st_size <= _LIMIT else None
    except (OSError, ValueError, RecursionError):
        return None
