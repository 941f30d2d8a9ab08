"""Hold out whole sentences of SST-2's training set, with all phrases that are parts of them.

    python bench/whole_sentences.py sst2/train.csv --out FOLDER [--n 872]

SST-2's rows are phrases, many of them parts of one another, while its dev set has whole sentences. A tenth of the rows
held out at random is full of phrases whose sentences were learned from, and says little about when to stop. Writes
train.csv and valid.csv.
"""

import argparse
import csv
import random
from pathlib import Path

Row = dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("train", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--n", type=int, default=872, help="sentences that are held out; as many as dev has")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with options.train.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    train, valid = split(rows, options.n, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, some in (("train.csv", train), ("valid.csv", valid)):
        with (options.out / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(some)
    told = f"{len(train)} to learn from, {len(valid)} whole sentences held out, the rest parts of them"
    print(f"{len(rows)} rows: {told}")


def split(rows: list[Row], n: int, seed: int) -> tuple[list[Row], list[Row]]:
    """What is left to learn from, and what is held out."""
    whole = sentences(rows)
    valid = random.Random(seed).sample(whole, n)
    held_out = joined(valid)
    return [row for row in rows if f" {words(row)} " not in held_out], valid


def sentences(rows: list[Row]) -> list[Row]:
    """Rows that are no part of another; of equal ones the first."""
    found: list[Row] = []
    longer = "\n"
    for row in sorted(rows, key=lambda row: -len(words(row))):
        if f" {words(row)} " not in longer:
            found.append(row)
            longer += joined([row])
    return found


def joined(rows: list[Row]) -> str:
    """A line each, its words between blanks, so that a part of it is found at the borders of words."""
    return "".join(f" {words(row)} \n" for row in rows)


def words(row: Row) -> str:
    return " ".join(row["text"].split())


if __name__ == "__main__":
    main()
