"""How a sentence-transformers folder makes one vector of a text: modules.json and what it names."""

import json
import logging
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

_LIMIT = 1_000_000  # bytes
_MODULES, _BERT, _WHOLE = "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"
# our names of poolings and theirs, in the order in which several are put side by side
_POOLINGS = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


def sentence_settings(folder: Path) -> dict[str, Any]:
    """Pooling (cls, mean, max …), whether the vector is normalised, and how many pieces are read; {} if not said.

    Where the files speak of them also: prompts, the one used by default, whether it is pooled, and the similarity.
    """
    modules = _json(folder / _MODULES)
    if not isinstance(modules, list):
        return {}
    kinds = {str(module.get("type", "")).rsplit(".", 1)[-1]: module for module in modules if isinstance(module, dict)}
    if "Pooling" not in kinds:
        return {}
    pooling = _pooling_config(folder, str(kinds["Pooling"].get("path", "")))
    settings = {"pooling": _pooling(pooling), "normalise": "Normalize" in kinds}
    bert = _object(folder / _BERT)
    if isinstance(bert.get("max_seq_length"), int):
        settings["max_pieces"] = bert["max_seq_length"]
    others = sorted(kinds.keys() - {"Transformer", "Pooling", "Normalize"})
    return settings | ({"other_modules": others} if others else {}) | _said(_object(folder / _WHOLE), pooling or {})


def write_sentence(settings: dict[str, Any], width: int, folder: Path) -> None:
    """The files that `sentence_settings` reads, beside a BERT of this width."""
    modes = str(settings.get("pooling", "")).split("+")
    if settings.get("other_modules") or not all(mode in _POOLINGS for mode in modes):
        logger.warning(
            "How this model makes sentence vectors (%s) is not written: only pooling and normalising are known. "
            "sentence-transformers will take the mean.",
            settings,
        )
        return
    kinds = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    if not settings.get("normalise"):
        del kinds["Normalize"]
    for path in filter(None, kinds.values()):
        (folder / path).mkdir()
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(kinds.items())
    ]
    _write(folder / _MODULES, modules)
    _write(folder / "1_Pooling" / "config.json", _pooling_fields(modes, width, settings))
    if "max_pieces" in settings:
        _write(folder / _BERT, {"max_seq_length": settings["max_pieces"], "do_lower_case": False})
    whole = {
        "prompts": settings.get("prompts", {}),
        "default_prompt_name": settings.get("default_prompt"),
        "similarity_fn_name": settings.get("similarity"),
    }
    _write(folder / _WHOLE, whole)


def _pooling_config(folder: Path, name: str) -> dict[str, Any] | None:
    """What the pooling's own file says; a path out of the folder is not followed."""
    return _object(folder / name / "config.json") if Path(name).name == name else None


def _pooling(config: dict[str, Any] | None) -> str:
    if config is None:
        return "unknown"
    if said := config.get("pooling_mode"):
        return "+".join(str(mode).removesuffix("_tokens") for mode in (said if isinstance(said, list) else [said]))
    ours = {theirs: name for name, theirs in _POOLINGS.items()}
    modes = [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    modes.sort(key=lambda key: list(ours).index(key) if key in ours else len(ours))
    return "+".join(ours.get(key, key.removeprefix("pooling_mode_")) for key in modes)


def _pooling_fields(modes: list[str], width: int, settings: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"word_embedding_dimension": width}
    fields |= {theirs: name in modes for name, theirs in _POOLINGS.items()}
    if modes != [name for name in _POOLINGS if name in modes]:  # another order, which only newer versions know
        fields["pooling_mode"] = [f"{mode}_tokens" if mode == "mean_sqrt_len" else mode for mode in modes]
    return fields | {"include_prompt": settings.get("include_prompt", True)}


def _said(whole: dict[str, Any], pooling: dict[str, Any]) -> dict[str, Any]:
    """What goes beyond the usual, where it does."""
    said: dict[str, Any] = {}
    prompts = whole.get("prompts")
    if isinstance(prompts, dict) and any(isinstance(prompt, str) and prompt for prompt in prompts.values()):
        said["prompts"] = {str(name): prompt for name, prompt in prompts.items() if isinstance(prompt, str)}
        if whole.get("default_prompt_name") in said["prompts"]:
            said["default_prompt"] = whole["default_prompt_name"]
    if pooling.get("include_prompt") is False:
        said["include_prompt"] = False
    if isinstance(whole.get("similarity_fn_name"), str):
        said["similarity"] = whole["similarity_fn_name"]
    return said


def _object(path: Path) -> dict[str, Any]:
    found = _json(path)
    return found if isinstance(found, dict) else {}


def _json(path: Path) -> Any:
    """What a small JSON file holds; None where there is none or it is not JSON."""
    try:
        return json.loads(path.read_text("utf-8")) if path.stat().st_size <= _LIMIT else None
    except (OSError, ValueError, RecursionError):
        return None


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1), "utf-8")
