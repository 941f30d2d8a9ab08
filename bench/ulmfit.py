"""What ULMFiT's stages bring: from scratch, without stage 2, all three, with few labels.

    python bench/ulmfit.py MODEL TRAIN TEST --out FOLDER [--labels 500] [--seeds 3] [--test-rows 5000] [--only ROW …]

MODEL is an AWD-LSTM that `polyseme pretrain` made. Each row is what `polyseme fit classify TRAIN --limit 500` gives:
with --tune full from a model of the same size with random weights; with --tune gradual from MODEL; and the same from
MODEL after --domain-epochs over the text of TRAIN, whose labels are not looked at. Measured on --test-rows of TEST,
drawn once. Killed at any moment, the same command goes on where it was.
"""

import argparse
import json
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import polyseme
from polyseme.adapt.runs import FitRun
from polyseme.domain import Domain
from polyseme.encoders.fresh import fresh
from polyseme.tasks.reading import read
from polyseme.train.report import Report


def main() -> None:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    test = some(options.test, options.test_rows, options.out / f"test-{options.test_rows}.jsonl")
    rows = {name: (ROWS[name][0](options), ROWS[name][1]) for name in options.only or ROWS}
    found: dict[str, list[float]] = {name: [] for name in rows}
    for seed in range(options.seeds):
        for name, (encoder, chosen) in rows.items():
            out = options.out / f"{name.replace(' ', '-')}-{options.labels}-{seed}"
            run = FitRun(
                "classify",
                options.train,
                encoder,
                out,
                {**chosen, "epochs": options.epochs, "seed": seed},
                test=test,
                limit=options.labels,
            )
            result = run.run(tell)
            found[name].append(result["test"]["accuracy"])
            print(
                f"{name:18} seed {seed}: accuracy {result['test']['accuracy']:.4f}, {result['seconds']} s", flush=True
            )
    print(f"\n{options.labels} labels, {options.seeds} seeds")
    for name, scores in found.items():
        mean, spread = statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else 0.0
        print(f"{name:18} accuracy {mean:.4f} ± {spread:.4f}, error {100 - 100 * mean:.1f} %")
    (options.out / "result.json").write_text(json.dumps(found, indent=1) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--labels", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--test-rows", type=int, default=5000)
    parser.add_argument("--epochs", type=int, default=10, help="of every fit: 500 labels are few steps an epoch")
    parser.add_argument("--domain-epochs", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(ROWS), help="these rows alone")
    parser.add_argument("--more-text", nargs="*", default=[], help="text without labels for stage 2")
    return parser.parse_args()


def some(path: Path, n: int, place: Path) -> Path:
    """So many rows of a file, drawn once."""
    if not place.exists():
        found = read("classify", path)
        chosen = random.Random(0).sample(range(len(found.inputs)), min(n, len(found.inputs)))
        rows = ({"text": found.inputs[one], "label": found.labels[one]} for one in chosen)
        place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


def scratch(options: argparse.Namespace) -> Path:
    """The same sizes and words with random weights."""
    place: Path = options.out / "scratch"
    if not place.is_dir():
        polyseme.save(fresh(polyseme.load(options.model), seed=0), place)
    return place


def domain(options: argparse.Namespace) -> Path:
    inputs = read("classify", options.train).inputs
    return Domain(options.domain_epochs, tuple(options.more_text))(options.model, inputs, options.out, tell)


def tell(report: Report) -> None:
    if report.metrics:
        print(f"  {report.stage} {report.done:,.0f}/{report.total:,.0f} {report.metrics}", file=sys.stderr, flush=True)


ROWS = {
    "from scratch": (scratch, {"tune": "full"}),
    "without stage 2": (lambda options: options.model, {"tune": "gradual"}),
    "all three stages": (domain, {"tune": "gradual"}),
}


if __name__ == "__main__":
    main()
