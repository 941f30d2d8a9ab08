"""How fast rows are multiplied with matrices, by MKL (torch's own way) and by oneDNN, at the shapes that matter.

    python bench/products.py [--threads 1] [--rounds 5]

GFLOP/s of the product itself and of both of its gradients. polyseme.layers.dense chooses between the two by what the
processor is; this shows whether it chooses well. Compare the columns of one run only.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from polyseme.layers import dense

SHAPES = [(512, 384, 1536), (512, 1536, 384), (4096, 256, 1024), (1024, 768, 3072), (256, 256, 16000)]  # rows, in, out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"chosen here: {'oneDNN' if dense.onednn_is_faster() else 'MKL'}")
    print(f"{'rows x in x out':>18} {'product: MKL':>14} {'oneDNN':>8} {'with gradients: MKL':>20} {'oneDNN':>8}")
    for rows, width, out in SHAPES:
        given = torch.randn(rows, width), torch.randn(out, width), torch.randn(out)
        amount = 2e-9 * rows * width * out
        found = compared(given, options.rounds)
        print(
            f"{f'{rows} x {width} x {out}':>18} {amount / found['MKL']:14.0f} {amount / found['oneDNN']:8.0f} "
            f"{3 * amount / found['MKL, gradients']:20.0f} {3 * amount / found['oneDNN, gradients']:8.0f}",
            flush=True,
        )


def compared(given: tuple[Tensor, Tensor, Tensor], rounds: int) -> dict[str, float]:
    """Median seconds of each way, in interleaved rounds."""
    seconds: dict[str, list[float]] = {}
    learned = tuple(tensor.clone().requires_grad_() for tensor in given)
    for _ in range(rounds):
        for name, is_faster in (("MKL", False), ("oneDNN", True)):
            dense.onednn_is_faster = lambda is_faster=is_faster: is_faster  # type: ignore[assignment]
            with torch.inference_mode():
                seconds.setdefault(name, []).append(timed(lambda: dense.times(*given)))
            seconds.setdefault(f"{name}, gradients", []).append(timed(lambda: dense.times(*learned).sum().backward()))
    return {name: statistics.median(some) for name, some in seconds.items()}


def timed(run: Callable[[], object], n: int = 10) -> float:
    run()
    start = time.perf_counter()
    for _ in range(n):
        run()
    return (time.perf_counter() - start) / n


if __name__ == "__main__":
    main()
