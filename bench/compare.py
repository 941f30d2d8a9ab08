"""What a comparison costs beside the trainings in it.

    python bench/compare.py train.csv test.csv ENCODER ENCODER

Two tunings, three seeds, 1,000 labels. A distinct training is a fit, and for each frozen encoder one reading of all its
texts; the rest is loading, planning, measuring on the test, the statistics and the page. The frozen layers go to a new
cache. CPU seconds are told beside those on the clock, for machines that others use too.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from polyseme.comparison.compare import compare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("encoders", nargs="+")
    parser.add_argument("--labels", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["POLYSEME_CACHE"] = str(Path(folder) / "cache")
        began, began_cpu = time.perf_counter(), time.process_time()
        compare(
            "classify", options.train, options.encoders, tune=["frozen", "full"], seeds=3, labels=options.labels,
            test=options.test, out=Path(folder) / "run",
        )  # fmt: skip
        whole, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        lines = (Path(folder) / "run" / "results.jsonl").read_text().splitlines()
    costs = [json.loads(line)["cost"] for line in lines]
    trainings = sum(cost["seconds"] + (cost["encoding_seconds"] or 0.0) for cost in costs)
    print(
        f"{len(costs)} fits: {whole:.1f} s in all ({cpu:.1f} s of CPU), {trainings:.1f} s of them trainings:", end=" "
    )
    print(f"{whole / trainings:.2f} times")


if __name__ == "__main__":
    main()
