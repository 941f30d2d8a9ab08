"""What a run needs to go on exactly where it was: weights, the optimiser's memory, the recurrent state, the log."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from polyseme.files import write_file
from polyseme.train import checkpoint, optim
from polyseme.train.loop import Progress
from polyseme.types import State

_FACTS = "facts.json"


def save(
    folder: Path, module: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress,
    facts: dict[str, Any] | None = None, extra: dict[str, Tensor] | None = None,
) -> None:  # fmt: skip
    """Write a checkpoint, all of it or nothing; `facts` and `extra` are whatever else the caller remembers."""

    def write(temporary: Path) -> None:
        save_file(_contiguous(module.state_dict()), temporary / "model.safetensors")
        save_file(optim.state_tensors(optimizer), temporary / "optimizer.safetensors")
        state = {str(number): tensor for number, tensor in enumerate(progress.state or ())}
        save_file(_contiguous(state), temporary / "state.safetensors")
        save_file(_contiguous(extra or {}), temporary / "extra.safetensors")
        write_file(temporary / _FACTS, json.dumps(facts or {}))

    checkpoint.save(folder, progress.step, write)


class Resumed:
    """The newest whole checkpoint of a run, put back into the module and the optimiser; step 0 where there is none."""

    def __init__(self, folder: Path, module: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.step = 0
        self.state: State | None = None
        self.facts: dict[str, Any] = {}
        self.extra: dict[str, Tensor] = {}
        checkpoint.clean(folder)
        if (found := checkpoint.newest(folder)) is None:
            return
        self.step, saved = found
        module.load_state_dict(load_file(saved / "model.safetensors"))
        optim.load_state_tensors(optimizer, load_file(saved / "optimizer.safetensors"))
        state = load_file(saved / "state.safetensors")
        self.state = tuple(state[str(number)] for number in range(len(state))) or None
        self.extra = load_file(saved / "extra.safetensors")
        self.facts = json.loads((saved / _FACTS).read_bytes())


class Log:
    """metrics.jsonl, a line a measurement; lines behind the checkpoint that a run goes on from are taken out.

    JSON has no word for what is infinite or no number: it is null.
    """

    def __init__(self, path: Path, first: int) -> None:
        self.path = path
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        self.lines = [_finite(line) for line in map(_parsed, lines) if line and line["step"] <= first]
        write_file(path, "".join(json.dumps(line) + "\n" for line in self.lines))

    def add(self, line: dict[str, Any]) -> None:
        self.lines.append(_finite(line))
        with self.path.open("a") as file:
            file.write(json.dumps(self.lines[-1]) + "\n")


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except ValueError:
        return None  # a line that a kill cut short
    return parsed if isinstance(parsed, dict) and isinstance(parsed.get("step"), int) else None


def _finite(line: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in line.items()
    }


def _contiguous(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.contiguous() for name, tensor in tensors.items()}
