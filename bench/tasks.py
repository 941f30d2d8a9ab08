"""How well one encoder does on many tasks: every row is one `polyseme fit` command, which is printed with its scores.

    python bench/tasks.py ENCODER DATA --out FOLDER [--only NAME …]

DATA is a folder with sst2/, trec/, mrpc/, stsb/, rte/, conll2003/, conll2000/, ud_ewt/ and spans/; ROWS has the files.
Epochs are chosen on a held-out part of the training data, or on its own dev file where a test file is there beside it.
Killed at any moment, the same command goes on where it was; what is finished is not fitted again.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

FULL, MIX = "--tune full", "--layers mix --tune frozen"

ROWS = {
    "sst2-full": f"classify sst2/train.csv --test sst2/dev.csv {FULL} --set rate=2e-4 average=0.33",
    "sst2-mix": f"classify sst2/train.csv --test sst2/dev.csv {MIX} --epochs 5",
    "sst2-bilstm": f"classify sst2/train.csv --test sst2/dev.csv {MIX} --head bilstm --epochs 3 "
    "--set cache_dtype=float16",
    "trec-full": f"classify trec/train.csv --test trec/test.csv {FULL} --epochs 4 --label label",
    "trec-mix": f"classify trec/train.csv --test trec/test.csv {MIX} --label label",
    "trec-mix-float16": f"classify trec/train.csv --test trec/test.csv {MIX} --label label --set cache_dtype=float16",
    "mrpc-full": f"pair mrpc/train.tsv --test mrpc/dev.tsv {FULL} --epochs 4",
    "rte-full": f"pair rte/train.tsv --test rte/dev.tsv {FULL} --epochs 4",
    "stsb-full": f"regress stsb/train.tsv --test stsb/dev.tsv {FULL} --epochs 4",
    "conll2003-full": "tag conll2003/train.txt --valid conll2003/dev.txt --test conll2003/test.txt "
    f"{FULL} --layers mix --head bilstm --crf --epochs 5 --set rate=1e-4 batch_size=16 average=0.33",
    "conll2003-mix": "tag conll2003/train.txt --valid conll2003/dev.txt --test conll2003/test.txt "
    f"{MIX} --head bilstm --crf --epochs 5",
    "conll2000-full": f"tag conll2000/train.txt --test conll2000/test.txt {FULL} --epochs 4 "
    "--set rate=2e-4 batch_size=16",
    "pos-full": "tag ud_ewt/train.conllu --valid ud_ewt/dev.conllu --test ud_ewt/test.conllu "
    f"{FULL} --epochs 3 --set rate=2e-4 batch_size=16",
    "pos-mix": f"tag ud_ewt/train.conllu --valid ud_ewt/dev.conllu --test ud_ewt/test.conllu {MIX} --epochs 5",
    "spans-full": f"span spans/train.json --test spans/dev.json {FULL} --epochs 4",
}


def main() -> None:
    options = parse()
    for name, row in ROWS.items():
        if options.only and name not in options.only:
            continue
        task, *others = row.split()
        files = [str(options.data / part) if "/" in part else part for part in others]
        command = ["fit", task, *files, "--encoder", str(options.encoder), "--out", str(options.out / name), "--json"]
        done = subprocess.run([sys.executable, "-m", "polyseme", *command], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{name} failed: polyseme {' '.join(command)}")
        found = json.loads(done.stdout)
        scores = ", ".join(f"{key} {value:.4f}" for key, value in found["test"].items())
        print(f"| {name} | {scores} | {found['seconds']:.0f} s | `polyseme fit {row}` |", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("encoder", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=list(ROWS), help="these rows alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
