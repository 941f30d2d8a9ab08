"""One fit, from its first step or from where it was killed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from polyseme.adapt import strategies
from polyseme.adapt.data import Data
from polyseme.adapt.fitted import Fitted
from polyseme.adapt.frozen import FrozenRows, frozen_rows
from polyseme.adapt.inputs import Inputs
from polyseme.adapt.long_texts import Windows
from polyseme.adapt.model import Adapted
from polyseme.adapt.order import Order
from polyseme.adapt.shared import Shared, Taken
from polyseme.adapt.store import default_store
from polyseme.errors import Mistake
from polyseme.train import resume
from polyseme.train.average import add_to_means, averaged, put_means
from polyseme.train.loop import Progress, train
from polyseme.train.optim import decay_groups
from polyseme.train.report import Report
from polyseme.types import Prediction, State

Tell = Callable[[Report], None]

_SAVE_EVERY = 60.0  # seconds; when a fit is saved does not change what it computes
_MEASURED, _AT_ONCE = 5000, 256  # examples whose rows tell their scale, and those in memory at once
_AVERAGED = 200  # how often weights are added to their mean, at the least: neighbouring steps are alike
_TOP = -1  # the group that is no block of the encoder


class Session:
    """Trains the top of a Fitted, and with it the blocks of the encoder that the strategy thaws."""

    def __init__(
        self, fitted: Fitted, data: Data, valid: Data | None, seed: int, tell: Tell, shared: Shared | None = None
    ) -> None:
        self.fitted, self.valid, self.tell, self.seed, self.shared = fitted, valid, tell, seed, shared
        self.settings, self.kind, self.top = fitted.settings, fitted.kind, fitted.top
        self.encoder = fitted.pretrained.encoder
        self.data, self.inputs = data, self._inputs_of(data)
        self.targets = fitted.kind.targets(data.inputs, data.labels)
        self.frozen = self.settings.tune == "frozen"
        self.cached = self._cached(data) if self.frozen else None
        self.cached_valid = self._cached(valid) if self.frozen and valid else None
        self.adapted = Adapted(self.encoder, self.top, Windows())
        self.module: nn.Module = self.top if self.frozen else self.adapted  # all that learns
        self.order = Order(self.inputs.lengths, self.settings.batch_size, seed)
        self.best: dict[str, Any] = {}  # what was measured at the best epoch
        self.last: dict[str, Any] = {}  # and at the last
        self.best_weights: dict[str, Tensor] = {}
        self.n_worse = 0  # epochs since the best one
        self.losses = (0.0, 0)  # the sum and the number of those of this epoch's steps

    @property
    def n_epochs(self) -> int:
        assert self.settings.epochs is not None
        return self.settings.epochs

    @property
    def _highest_rate(self) -> float:
        """Of the encoder's top block, or of the head where that learns alone."""
        rate = self.settings.head_rate if self.frozen else self.settings.rate
        assert rate is not None
        return rate

    def run(self, folder: Path | None) -> dict[str, Any]:
        """Train, and put the weights of the epoch that is kept in place; what was measured then."""
        self.module.requires_grad_(True)
        self._measure_scale()
        self.top.head.expect(self.targets)
        optimizer = torch.optim.AdamW(self._groups(), lr=0.0, fused=True)
        first = self._resume(folder, optimizer) if folder else 0
        log = resume.Log(folder / "metrics.jsonl", first) if folder else None
        n_steps, began, saved = self.n_epochs * self.order.steps_an_epoch, time.monotonic(), time.monotonic()
        self._set_modes()
        steps = train(
            lambda step, state: self._loss(step, optimizer), optimizer, self._rate, range(first, n_steps), self.seed,
            self.settings.most_norm,
        )  # fmt: skip
        for now in steps:
            if self._counts(n_steps, n_steps - now.step):
                add_to_means(optimizer)
            measured = None
            if now.step % self.order.steps_an_epoch == 0:
                with averaged(optimizer):
                    measured = self._measure(now)
            if log and measured:
                log.add({"step": now.step, "loss": now.loss, "rate": now.rate, **measured})
            if folder and time.monotonic() - saved > _SAVE_EVERY:
                saved = time.monotonic()
                facts = {"best": self.best, "last": self.last, "n_worse": self.n_worse}
                resume.save(folder, self.module, optimizer, now, facts, self.best_weights)
            speed = (now.step - first) * self.settings.batch_size / max(1e-9, time.monotonic() - began)
            self.tell(self._report(now, n_steps, speed, measured))
            if self._has_enough():
                break
        kept = self.best if self._goes_back() else self.last
        put_means(optimizer)
        if kept is self.best and self.best_weights:
            self.module.load_state_dict(self.best_weights)
        if not all(bool(parameter.isfinite().all()) for parameter in self.module.parameters()):
            name = "head_rate" if self.frozen else "rate"
            raise Mistake(f"After the last step some weights are not numbers. Lower {name} ({self._highest_rate:g}).")
        self.module.eval().requires_grad_(False)
        return kept

    def _counts(self, n_steps: int, n_left: int) -> bool:
        """Whether the weights count in their mean when so many steps are left."""
        n_last = max(1, round(self.settings.average * n_steps)) if self.settings.average else 0
        return n_left < n_last and n_left % max(1, n_last // _AVERAGED) == 0

    def _measure_scale(self) -> None:
        """How the rows of a frozen encoder are scaled, from as many examples as suffice, all over the data."""
        if self.top.standard is not None and self.cached is not None:
            self.top.eval()
            examples = torch.arange(0, len(self.data), -(-len(self.data) // _MEASURED))
            with torch.no_grad():
                parts = (self.top.vectors(self.cached.take(part)) for part in torch.split(examples, _AT_ONCE))
                self.top.standard.measure(parts)

    def _inputs_of(self, data: Data) -> Inputs:
        if self.shared is not None:
            return self.shared.inputs(self.kind, data.inputs, self.settings)
        return self.kind.inputs(self.fitted.pretrained, data.inputs, self.settings)

    def _cached(self, data: Data) -> Taken:
        if self.shared is not None and not self.settings.reinit:  # blocks begun anew differ from seed to seed
            return self.shared.rows(self.kind, data.inputs, self.settings, self.top.reading, self._frozen_rows)
        return self._frozen_rows(self.inputs if data is self.data else self._inputs_of(data))

    def _frozen_rows(self, inputs: Inputs) -> FrozenRows:
        store = default_store() if self.settings.cache else None
        return frozen_rows(
            self.encoder, inputs, self.top.reading, store, self.settings.cache_dtype,
            lambda stage, done, total: self.tell(Report(stage, done, total)),
            lambda said: self.tell(Report("Encoding", 0, 1, said=said)),
        )  # fmt: skip

    def _set_modes(self) -> None:
        self.top.train()
        self.encoder.train(self.cached is None)

    def _resume(self, folder: Path, optimizer: torch.optim.Optimizer) -> int:
        before = resume.Resumed(folder, self.module, optimizer)
        self.best, self.last = before.facts.get("best", {}), before.facts.get("last") or before.facts.get("best", {})
        self.best_weights, self.n_worse = before.extra, before.facts.get("n_worse", 0)
        return self.n_epochs * self.order.steps_an_epoch if self._has_enough() else before.step

    def _groups(self) -> list[dict[str, Any]]:
        """The parameters of the top and of each block, with the block's number."""
        parts: list[tuple[int, nn.Module]] = [(_TOP, self.top)]
        if self.cached is None:
            blocks = self.encoder.blocks()
            parts += enumerate(blocks)
            parts += [(len(blocks) - 1, other) for other in self._outside(blocks)]
        return [{**group, "block": n} for n, part in parts for group in decay_groups(part, self.settings.weight_decay)]

    def _outside(self, blocks: list[nn.Module]) -> list[nn.Module]:
        """Parts of the encoder that are in no block, such as BERT's pooler: they learn with the top one."""
        inside = {parameter for block in blocks for parameter in block.parameters()}
        return [part for part in self.encoder.children() if not inside.intersection(part.parameters())]

    def _loss(self, step: int, optimizer: torch.optim.Optimizer) -> tuple[Tensor, State | None]:
        self._thaw(step // self.order.steps_an_epoch, optimizer)
        examples = self.order.examples(step)
        if self.cached is not None:
            rows = self.cached.take(examples)
        else:
            rows = self.adapted.rows(self.inputs.take(examples), len(examples) * self.inputs.n_each)
        loss = self.kind.loss(self.top.head, self.top.features(rows), self.targets, examples)
        if self.top.mix is not None and self.settings.mix_penalty:
            loss = loss + self.top.mix.penalty(self.settings.mix_penalty)
        return loss, None

    def _thaw(self, epoch: int, optimizer: torch.optim.Optimizer) -> None:
        settings, n_blocks = self.settings, len(self.encoder.blocks())
        assert settings.head_rate is not None
        assert settings.block_decay is not None
        factors = strategies.factors(settings.tune, n_blocks, epoch, settings.block_decay)
        for group in optimizer.param_groups:
            of_top = group["block"] == _TOP
            group["factor"] = settings.head_rate / self._highest_rate if of_top else factors[group["block"]]
            for parameter in group["params"]:
                parameter.requires_grad_(group["factor"] > 0)

    def _rate(self, step: int) -> float:
        settings = self.settings
        return self._highest_rate * strategies.rate_factor(
            settings.tune, len(self.encoder.blocks()), step, self.order.steps_an_epoch, self.n_epochs, settings.warm_up
        )

    def _measure(self, now: Progress) -> dict[str, float]:
        """The scores on what is held out; the best epoch's weights are remembered."""
        if self.valid is None:
            return {}
        scores = self.kind.scores(self.valid, self._said(self.valid))
        self._set_modes()
        main = next(iter(scores.values()))
        self.n_worse += 1
        self.last = {"score": main, "epoch": now.step // self.order.steps_an_epoch, **scores}
        if not self.best or main > self.best["score"]:
            self.best = self.last
            self.best_weights = {name: tensor.detach().clone() for name, tensor in self.module.state_dict().items()}
            self.n_worse = 0
        return scores

    def _said(self, data: Data) -> list[Prediction]:
        if self.cached_valid is None:
            return self.fitted.predict(data.inputs)
        return self.fitted.predict_from(self.cached_valid, data.inputs)

    def _goes_back(self) -> bool:
        """Whether the best epoch is kept rather than the last: where learning was broken off, or the best is better
        than chance alone would make one of several. The rate has come to nothing by the last epoch, so that of two
        that are alike it is the better one; and a few examples held out find any epoch the best."""
        return self._has_enough() or (
            self.valid is not None
            and self.best["score"] - self.last["score"] > self.kind.interval(self.best["score"], self.valid).error
        )

    def _has_enough(self) -> bool:
        return self.settings.patience is not None and self.n_worse >= self.settings.patience

    def _report(self, now: Progress, n_steps: int, speed: float, measured: dict[str, float] | None) -> Report:
        before, step = divmod(now.step - 1, self.order.steps_an_epoch)
        total, n = self.losses if step else (0.0, 0)
        self.losses = (total + now.loss, n + 1)
        loss = self.losses[0] / self.losses[1]
        note = f"epoch {before + 1}/{self.n_epochs} · loss {loss:.3f} · {speed:,.0f} examples/s"
        return Report("Fitting", now.step, n_steps, note, measured or None, loss=now.loss)
