"""What positions cost in short and in long texts: one total, cut into sequences of several mean lengths."""

import statistics
import time

import torch

from polyseme.encoders.pretrained import Pretrained
from polyseme.encoders.workers import side_by_side
from polyseme.text.batches import groups, offsets_of, take
from polyseme.types import Batch

MEANS = (8, 32, 128, 512)
TOTAL = 8192  # positions, the same for every mean


def by_length(pretrained: Pretrained, rounds: int) -> list[dict[str, float]]:
    """Medians of interleaved rounds."""
    cases = [(mean, total, ragged(mean, total)) for mean in MEANS for total in (TOTAL // 2, TOTAL)]
    seconds: list[list[float]] = [[] for _ in cases]
    for _ in range(rounds + 1):  # the first is to get warm
        for taken, (_, _, batch) in zip(seconds, cases, strict=True):
            start = time.perf_counter()
            encode(pretrained, batch)
            taken.append(time.perf_counter() - start)
    rows = [
        figures(mean, batch, statistics.median(taken[1:]))
        for taken, (mean, _, batch) in zip(seconds, cases, strict=True)
    ]
    names = ("mean length", "sequences", "positions", "if padded", "seconds", "µs a position")
    print("\n" + " ".join(f"{name:>13}" for name in names))
    for row in rows:
        print(
            f"{row['mean']:13} {row['sequences']:13} {row['positions']:13} {row['padded']:13} {row['seconds']:13.2f} "
            f"{row['microseconds']:13.0f}"
        )
    return rows


def ragged(mean: int, total: int) -> Batch:
    """Random pieces in sequences of half to one and a half times the mean, at most 512."""
    generator = torch.Generator().manual_seed(mean)
    spread = min(mean // 2, 512 - mean)
    lengths = torch.randint(mean - spread, mean + spread + 1, (2 * total // mean,), generator=generator)
    lengths = lengths[: int(torch.searchsorted(lengths.cumsum(0), total)) + 1]
    ids = torch.randint(1000, 30_000, (int(lengths.sum()),), generator=generator)
    none = torch.zeros_like(lengths)
    return Batch(ids, offsets_of(lengths), torch.full_like(ids, -1), none, torch.arange(len(lengths)))


def encode(pretrained: Pretrained, batch: Batch) -> None:
    encoder = pretrained.encoder.eval()
    parts = groups(batch.lengths, encoder.budget)
    side_by_side(encoder, parts, lambda part: encoder(take(batch, part)).layers[-1])


def figures(mean: int, batch: Batch, seconds: float) -> dict[str, float]:
    positions = int(batch.offsets[-1])
    padded = sum(int(part.max()) * len(part) for part in batch.lengths.split(32))  # as they come, 32 at a time
    microseconds = 1e6 * seconds / positions
    return {
        "mean": mean,
        "sequences": batch.n_sequences,
        "positions": positions,
        "padded": padded,
        "seconds": seconds,
        "microseconds": microseconds,
    }


if __name__ == "__main__":
    raise SystemExit("bert.py --lengths runs this")
