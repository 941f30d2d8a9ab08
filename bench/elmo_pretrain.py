"""How fast a biLM learns: our LSTM and losses against a plain loop of cells with the full softmax.

    python bench/elmo_pretrain.py --rounds 12

Two layers of 1024 units projected to 256, two directions, 32 rows of 20 words, 30,000 words, 2,048 samples; words come
from a table, so that only what differs is measured. A step is forward, backward and Adagrad. Contestants take turns;
medians are compared.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from polyseme.layers.lstm import ProjectedLstm
from polyseme.layers.softmax import Softmax, log_uniform_samples

WIDTH, UNITS, N_WORDS, ROWS, STEPS, SAMPLES = 256, 1024, 30_000, 32, 20, 2048
DISTINCT = 400  # words among 640: an ELMo spells only these


class Model(nn.Module):
    """Words, two directions of two layers, a softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(DISTINCT, WIDTH)
        self.lstms = nn.ModuleList(ProjectedLstm(WIDTH, UNITS) for _ in range(4))
        self.softmax = Softmax(WIDTH, N_WORDS)

    def forward(self, ids: Tensor, layer: Callable[[ProjectedLstm, Tensor], Tensor]) -> Tensor:
        outputs = []
        for first in (0, 2):
            vectors = layer(self.lstms[first], self.words(ids))
            outputs.append(layer(self.lstms[first + 1], vectors) + vectors)
        return torch.stack(outputs).flatten(0, 2)  # (2 * steps * rows, width)


def plain(lstm: ProjectedLstm, inputs: Tensor) -> Tensor:
    """A loop of cells as one writes it down."""
    hidden, cell = inputs.new_zeros(ROWS, WIDTH), inputs.new_zeros(ROWS, UNITS)
    outputs = []
    for x in inputs:
        gates = lstm.input(x) + lstm.recurrent(hidden)
        i, f, o, j = gates.chunk(4, 1)
        cell = (torch.sigmoid(f + 1) * cell + torch.sigmoid(i) * torch.tanh(j)).clamp(-3, 3)
        hidden = lstm.projection(torch.sigmoid(o) * torch.tanh(cell)).clamp(-3, 3)
        outputs.append(hidden)
    return torch.stack(outputs)


def unrolled(lstm: ProjectedLstm, inputs: Tensor) -> Tensor:
    return lstm.unrolled(inputs, inputs.new_zeros(ROWS, WIDTH), inputs.new_zeros(ROWS, UNITS))[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.2, initial_accumulator_value=1.0, fused=True)
    targets = torch.stack([log_uniform_samples(N_WORDS, ROWS)[0] for _ in range(STEPS)])  # frequent words come often
    ids, targets = targets.roll(1, 0) % DISTINCT, targets.flatten().repeat(2)
    losses = {
        "cell loop, full softmax": lambda: nn.functional.cross_entropy(model.softmax(model(ids, plain)), targets),
        "ours, full softmax": lambda: model.softmax.loss(model(ids, unrolled), targets),
        "ours, sampled softmax": lambda: model.softmax.sampled_loss(model(ids, unrolled), targets, SAMPLES),
        "ours, no softmax": lambda: model(ids, unrolled).square().mean(),
    }
    assert torch.allclose(losses["cell loop, full softmax"](), losses["ours, full softmax"](), atol=1e-5)
    seconds = take_turns({who: lambda loss=loss: step(loss, optimizer) for who, loss in losses.items()}, rounds)
    base = seconds["cell loop, full softmax"]
    sampled, floor = seconds["ours, sampled softmax"], seconds["ours, no softmax"]
    print(json.dumps({
        "words/s": {who: round(ROWS * STEPS / seconds[who]) for who in seconds},
        "ratio": {who: round(base / seconds[who], 2) for who in seconds},
        "share of the sampled loss": round(1 - floor / sampled, 3),
    }))  # fmt: skip


def step(loss: Callable[[], Tensor], optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss().backward()
    optimizer.step()


def take_turns(contestants: dict[str, Callable[[], None]], rounds: int, each: int = 3) -> dict[str, float]:
    seconds: dict[str, list[float]] = {who: [] for who in contestants}
    for number in range(rounds + 1):  # the first round warms up
        for who, run in contestants.items():
            start = time.perf_counter()
            for _ in range(each):
                run()
            if number:
                seconds[who].append((time.perf_counter() - start) / each)
    return {who: statistics.median(times) for who, times in seconds.items()}


if __name__ == "__main__":
    main()
