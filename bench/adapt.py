"""How fast an encoder is fitted and predicts, side by side with transformers, in interleaved rounds.

    python bench/adapt.py FOLDER LABELLED.csv [--rows 1024] [--rounds 3] [--whole]

FOLDER is a BERT in the Hugging Face layout; LABELLED has a text and a class a row, of which the first --rows are used.
transformers' Trainer runs at its defaults (8 rows a step, padded to the longest of them) with the batches of its own
DataCollatorWithPadding, and its pipeline at its own (one text at a time). Both sides start with strings and a loaded
model. Frozen means that the head alone learns, for three epochs; nothing is found in a cache, ours is switched off.
--whole also asks, with all rows of the file, what five epochs over a frozen encoder cost beside one pass of the
encoder alone.
"""

import argparse
import logging
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import polyseme
from polyseme.adapt.data import Data
from polyseme.adapt.fit import fit
from polyseme.adapt.settings import settings
from polyseme.tasks.reading import read

EPOCHS = {"full": 1, "frozen": 3}


def main() -> None:
    options = parse()
    torch.set_num_threads(options.threads)
    found = read("classify", options.data)
    data = Data(found.inputs[: options.rows], [str(label) for label in found.labels[: options.rows]])
    names = sorted(set(data.labels))
    measure("fine-tuning, one epoch", data, options.rounds, {
        "polyseme": lambda: ours(options.folder, data, "full"),
        "transformers' Trainer": lambda: theirs(options.folder, data, names, "full"),
    })  # fmt: skip
    measure("frozen, three epochs", data, options.rounds, {
        "polyseme": lambda: ours(options.folder, data, "frozen"),
        "transformers' Trainer": lambda: theirs(options.folder, data, names, "frozen"),
    })  # fmt: skip
    few = data.take(range(min(64, len(data))))
    fitted = fit(polyseme.load(options.folder), "classify", few, settings(tune="full", epochs=1))
    pipe = pipeline(options.folder, len(names))
    measure("prediction", data, options.rounds, {
        "polyseme": lambda: timed(lambda: fitted.predict(data.inputs)),
        "transformers' pipeline": lambda: timed(lambda: pipe(list(data.inputs))),
        "the same with batch_size=32": lambda: timed(lambda: pipe(list(data.inputs), batch_size=32)),
    })  # fmt: skip
    if options.whole:
        against_one_pass(options.folder, Data(found.inputs, [str(label) for label in found.labels]))


def against_one_pass(folder: Path, data: Data) -> None:
    chosen = settings(layers="mix", tune="frozen", epochs=5, valid=0.0, cache=False)
    once = timed(lambda: polyseme.load(folder).embed(list(data.inputs), level="text"))
    five = timed(lambda: fit(polyseme.load(folder), "classify", data, chosen))
    print(
        f"\n{len(data):,} rows: one pass of the encoder {once:.1f} s, a frozen fit of five epochs with the mix of all"
    )
    print(f"layers {five:.1f} s: {five / once:.2f} x")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="also five frozen epochs beside one pass, with all rows")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def measure(what: str, data: Data, rounds: int, contenders: dict[str, Callable[[], float]]) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            seconds[name].append(run())
    print(f"\n{what}, {len(data):,} rows, medians of {rounds} rounds")
    ours = statistics.median(seconds["polyseme"])
    for name, some in seconds.items():
        median = statistics.median(some)
        spread = (max(some) - min(some)) / median
        print(
            f"{name:32} {len(data) / median:9.1f} rows/s   ours is {median / ours:5.2f} x   spread {spread:.0%}",
            flush=True,
        )


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def ours(folder: Path, data: Data, tune: str) -> float:
    pretrained = polyseme.load(folder)
    chosen = settings(tune=tune, epochs=EPOCHS[tune], valid=0.0, cache=False)
    return timed(lambda: fit(pretrained, "classify", data, chosen))


def theirs(folder: Path, data: Data, names: list[str], tune: str) -> float:
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
    )

    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=len(names))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tune == "frozen":
        model.bert.requires_grad_(False)

    def train() -> None:
        pieces = tokenizer(list(data.inputs), truncation=True)["input_ids"]
        rows = [
            {"input_ids": ids, "labels": names.index(label)} for ids, label in zip(pieces, data.labels, strict=True)
        ]
        with tempfile.TemporaryDirectory() as place:
            arguments = TrainingArguments(
                place, num_train_epochs=EPOCHS[tune], save_strategy="no", report_to="none", disable_tqdm=True,
                logging_strategy="no", use_cpu=True,
            )  # fmt: skip
            collate = DataCollatorWithPadding(tokenizer)
            Trainer(model, arguments, train_dataset=rows, data_collator=collate).train()

    return timed(train)


def pipeline(folder: Path, n_classes: int) -> Any:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, TextClassificationPipeline

    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=n_classes)
    return TextClassificationPipeline(model=model.eval(), tokenizer=AutoTokenizer.from_pretrained(folder), device="cpu")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    main()
