"""What a run goes on from."""

import json
import math

import torch
from torch import nn

from polyseme.train import optim, resume
from polyseme.train.loop import Progress


def made(seed: int) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    module = nn.Linear(3, 2)
    optimizer = optim.make("adamw", module, 0.1)
    module(torch.randn(4, 3)).square().sum().backward()
    optimizer.step()
    return module, optimizer


def test_a_checkpoint_puts_everything_back(tmp_path):
    module, optimizer = made(0)
    state, extra = (torch.randn(2, 3).mT, torch.ones(1)), {"best": torch.randn(2, 2)}
    resume.save(tmp_path, module, optimizer, Progress(7, 0.5, 1.0, 0.1, state), {"seconds": 3}, extra)
    other, its_optimizer = made(1)
    (tmp_path / "checkpoints" / ".step-000000008.x1").mkdir()
    found = resume.Resumed(tmp_path, other, its_optimizer)
    assert (found.step, found.facts) == (7, {"seconds": 3})
    assert all(one.equal(two) for one, two in zip(found.state, state, strict=True))
    assert found.extra["best"].equal(extra["best"])
    assert other.weight.equal(module.weight)
    one, two = optim.state_tensors(optimizer), optim.state_tensors(its_optimizer)
    assert one.keys() == two.keys()
    assert all(one[name].equal(two[name]) for name in one)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-000000007"]


def test_without_a_checkpoint_a_run_begins_at_step_0(tmp_path):
    found = resume.Resumed(tmp_path, *made(0))
    assert (found.step, found.state, found.facts, found.extra) == (0, None, {}, {})


def test_lines_behind_the_checkpoint_and_half_lines_are_taken_out_of_the_log(tmp_path):
    path = tmp_path / "metrics.jsonl"
    log = resume.Log(path, 0)
    for step in (10, 20, 30):
        log.add({"step": step, "loss": 1 / step})
    with path.open("a") as file:
        file.write('{"step": 40, "lo')
    assert [line["step"] for line in resume.Log(path, 20).lines] == [10, 20]
    assert path.read_text() == '{"step": 10, "loss": 0.1}\n{"step": 20, "loss": 0.05}\n'


def test_the_log_is_json_whatever_was_measured(tmp_path):
    def refuse(constant):
        raise AssertionError(constant)

    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "loss": Infinity}\n')
    log = resume.Log(path, 1)
    log.add({"step": 2, "perplexity": math.inf, "loss": math.nan, "rate": 0.5})
    lines = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    assert lines == log.lines
    assert lines == [{"step": 1, "loss": None}, {"step": 2, "perplexity": None, "loss": None, "rate": 0.5}]
