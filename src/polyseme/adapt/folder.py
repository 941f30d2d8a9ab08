"""A fitted model as a folder: its encoder in model/, what stands on it, and what its outputs mean."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from polyseme.adapt.fit import make_top
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.kinds import kind_of
from polyseme.adapt.settings import Settings
from polyseme.errors import BadFile, Mistake, did_you_mean
from polyseme.files import new_folder, write_file
from polyseme.formats import format_of, load
from polyseme.formats import save as save_model
from polyseme.formats.tensors import fill
from polyseme.starters import starters
from polyseme.train.claim import RUN

TASK = "task.json"
_VERSION = 1


class TaskFile(BaseModel):
    """What task.json says."""

    model_config = ConfigDict(extra="forbid")

    format: int
    polyseme: str
    task: str
    kind: dict[str, Any]
    settings: Settings
    metrics: dict[str, Any]


def save(fitted: Fitted, folder: Path, task: str, force: bool = False) -> None:
    """Write a fitted model, all of it or nothing."""
    facts = TaskFile(
        format=_VERSION, polyseme=version("polyseme"), task=task, kind=fitted.kind.facts(), settings=fitted.settings,
        metrics=fitted.metrics,
    )  # fmt: skip
    with new_folder(folder, force) as temporary:
        save_model(fitted.pretrained, temporary / "model")
        tensors = {name: tensor.contiguous() for name, tensor in fitted.top.state_dict().items()}
        save_file(tensors, temporary / "top.safetensors")
        write_file(temporary / TASK, facts.model_dump_json(indent=1))


def is_fitted(folder: Path) -> bool:
    return (fitted_path(folder) / TASK).is_file()


def fitted_path(folder: Path) -> Path:
    """The folder of a run stands for the fitted model in it."""
    return folder / "fitted" if (folder / "fitted" / TASK).is_file() else folder


def load_fitted(folder: str | Path) -> tuple[Fitted, str]:
    """A fitted model and the name of its task."""
    path = fitted_path(Path(folder))
    facts = _read(path)
    pretrained = load(path / "model")
    try:
        kind = kind_of(facts.task, facts.kind)
    except (KeyError, TypeError):
        raise BadFile(f"{path / TASK} is damaged: {facts.kind} does not describe a task {facts.task!r}.") from None
    top = make_top(pretrained, kind, facts.settings).requires_grad_(False)
    try:
        tensors = load_file(path / "top.safetensors")
    except (OSError, SafetensorError) as error:
        raise BadFile(f"{path / 'top.safetensors'} cannot be read ({error}). Copy the folder again.") from None
    kinds = {name: tensor.dtype for name, tensor in top.state_dict().items()}
    fill(top, tensors, str(path / "top.safetensors"))
    top.load_state_dict({name: tensor.to(kinds[name]) for name, tensor in tensors.items()}, assign=True)  # doubles too
    return Fitted(pretrained, kind, top.eval(), facts.settings, facts.metrics), facts.task


def _read(path: Path) -> TaskFile:
    if not (path / TASK).is_file():
        raise BadFile(_what_it_is(path))
    try:
        facts = TaskFile.model_validate_json((path / TASK).read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        raise BadFile(f"{path / TASK} is damaged: {first['loc']}: {first['msg']}. Copy the folder again.") from None
    if facts.format > _VERSION:
        raise BadFile(f"{path} was written by a newer polyseme (format {facts.format}; this one reads {_VERSION}).")
    return facts


def _what_it_is(path: Path) -> str:
    """What stands where a fitted model was wanted, and what to do."""
    if (path / "comparison.json").is_file():
        return f"{path} is a comparison, which keeps no models. Fit its best row: polyseme fit TASK DATA --encoder …"
    if not path.exists() and str(path) not in starters():
        names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        return f"There is no folder {path}.{did_you_mean(path.name, names)}"
    if str(path) in starters() or _is_encoder(path) or (path / "model").is_dir():  # a pretraining that is finished
        return f"{path} is an encoder that has not been fitted. Fit it: polyseme fit TASK DATA --encoder {path}"
    if (path / RUN).is_file():
        return f"{path} is a run that has no fitted model. Give the command that began it again to finish it."
    return f"{path} is no fitted model: there is no {TASK} in it. Make one: polyseme fit TASK DATA --out {path}"


def _is_encoder(path: Path) -> bool:
    try:
        return path.exists() and bool(format_of(path))
    except Mistake:
        return False
