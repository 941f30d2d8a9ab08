"""The layer study: the same head on every layer of a frozen encoder, on their equal mix and on their learned mix."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from polyseme.adapt.runs import FitRun
from polyseme.errors import Mistake
from polyseme.files import write_file
from polyseme.formats import load
from polyseme.lens.mask_rate import RESULT, named, score_of
from polyseme.tasks.reading import Columns
from polyseme.train.report import Report

Tell = Callable[[Report], None]

# The weights of ELMo's mix are penalised: with 1 they stay equal, with 0.001 they learn (Peters et al. 2018, table 2).
_EQUAL, _LEARNED = 1.0, 0.001
_OWN = ("tune", "layers", "mix_penalty", "seed")


@dataclass(frozen=True)
class Choice:
    """What a head read, and how well it did: the mean over seeds, with its interval where there are two or more."""

    layers: str
    score: float
    low: float | None
    high: float | None
    score_name: str
    weights: list[float] | None = None  # of a learned mix, bottom first, for the first seed


def layers_of(
    encoder: Path, task: str, data: Path, out: Path, test: Path | None = None, seeds: int = 1,
    settings: dict[str, Any] | None = None, limit: int | None = None, columns: Columns = Columns(),
    tell: Tell = lambda report: None,
) -> list[Choice]:  # fmt: skip
    """A run a choice and seed in the folder `out`. Killed at any moment, the same call goes on."""
    if seeds < 1:
        raise Mistake(f"seeds={seeds} was asked for; one is the least.")
    for setting in _OWN:
        if setting in (settings or {}):
            raise Mistake(f"{setting} is what this study sets itself. Leave it out of --fit.")
    widths = load(encoder).encoder.widths
    found = []
    for name, chosen in _choices(widths):
        scores = []
        for seed in range(seeds):
            place = _place(out, name, seed)
            values = {"tune": "frozen", **(settings or {}), **chosen, "seed": seed}
            run = FitRun(task, data, encoder, place, values, test=test, limit=limit, columns=columns)
            scores.append(score_of(run.run(named(name, tell))))
        values_of = [value for _, value in scores]
        weights = _weights(_place(out, name, 0)) if name == "learned mix" else None
        found.append(Choice(name, float(np.mean(values_of)), *_interval(values_of), scores[0][0], weights))
    write_file(out / RESULT, json.dumps([asdict(one) for one in found], indent=1))
    return found


def _choices(widths: Sequence[int]) -> list[tuple[str, dict[str, Any]]]:
    """Layers differ in width in an AWD-LSTM: then there is no mix of them."""
    each: list[tuple[str, dict[str, Any]]] = [(f"layer {number}", {"layers": number}) for number in range(len(widths))]
    each[-1] = ("top", {"layers": "top"})
    if len(widths) == 1 or len(set(widths)) > 1:
        return each
    return [*each, ("equal mix", {"layers": "mix", "mix_penalty": _EQUAL}),
            ("learned mix", {"layers": "mix", "mix_penalty": _LEARNED})]  # fmt: skip


def _place(out: Path, name: str, seed: int) -> Path:
    return out / f"{name.replace(' ', '-')}-seed-{seed}"


def _interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Student's, of 95 %."""
    n = len(values)
    if n < 2:
        return None, None
    spread = float(student.ppf(0.975, n - 1)) * float(np.std(values, ddof=1)) / n**0.5
    return float(np.mean(values)) - spread, min(1.0, float(np.mean(values)) + spread)  # no score is more


def _weights(run: Path) -> list[float] | None:
    from polyseme.adapt.folder import load_fitted

    mix = load_fitted(run)[0].top.mix
    return None if mix is None else mix.weights.tolist()
