"""How fast a BERT learns masked words: ours against BertForMaskedLM with AdamW on padded batches.

    python bench/bert_pretrain.py TEXT.txt --size mini --rounds 5
    python bench/bert_pretrain.py TEXT.txt --size base --rounds 3 --sequences 16

Each line of TEXT.txt is a sequence of at most 128 pieces, in random order, as with run_mlm.py --line_by_line. A step is
making the batch (theirs: DataCollatorForLanguageModeling), forward, backward, clipping to 1 and AdamW, at 15 %, without
sentence adjacency. Sizes are 4x256 and 12x768, the output layer has 30,522 pieces. Contestants take turns with the same
sequences; medians are compared. Pieces a second do not count padding.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.pretrain.examples import read
from polyseme.pretrain.masked_lm import MaskedLm, Task
from polyseme.pretrain.masking import Noise, Rates, mask
from polyseme.pretrain.pairs import Sequences
from polyseme.text.piece_shards import BEGINS
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text
from polyseme.train import optim

SIZES = {"mini": (4, 256), "base": (12, 768)}
N_PIECES, LENGTH = 30_522, 128

Step = Callable[[np.ndarray], None]  # which sequences


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--size", choices=SIZES, default="mini")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2, help="of each contestant in a round")
    parser.add_argument("--sequences", type=int, default=64, help="a step")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    lines = [line for line in options.text.read_text("utf-8").splitlines() if line.strip()][:20_000]
    tokenizer = WordPiece.train(lines, N_PIECES, window=LENGTH)
    cut = tokenizer.cut([to_text(line) for line in lines])
    lengths = np.minimum(cut.lengths, LENGTH - 2)
    starts = cut.lengths.cumsum() - cut.lengths
    ids = cut.ids.astype(np.uint32) | BEGINS
    contestants = theirs(tokenizer, ids, starts, lengths, options.size)
    for name, dropout in (("polyseme", 0.1), ("polyseme, no dropout", 0.0)):
        contestants[name] = ours(tokenizer, ids, starts, lengths, options.size, dropout)
    seconds, n_pieces = take_turns(contestants, lengths, options)
    speed = {who: statistics.median(n / t for n, t in zip(n_pieces, seconds[who], strict=True)) for who in seconds}
    base = speed["transformers"]
    print(json.dumps({
        "size": options.size,
        "pieces a sequence": round(float(lengths.mean() + 2), 1),
        "pieces/s": {who: round(each) for who, each in speed.items()},
        "ratio": {who: round(each / base, 2) for who, each in speed.items()},
    }))  # fmt: skip


def take_turns(
    contestants: dict[str, Step], lengths: np.ndarray, options: argparse.Namespace
) -> tuple[dict[str, list[float]], list[int]]:
    draw = np.random.default_rng(0)
    seconds: dict[str, list[float]] = {who: [] for who in contestants}
    n_pieces = []
    for number in range(options.rounds + 1):  # the first round warms up
        batches = [draw.integers(0, len(lengths), options.sequences) for _ in range(options.steps)]
        for who, step in contestants.items():
            start = time.perf_counter()
            for rows in batches:
                step(rows)
            if number:
                seconds[who].append(time.perf_counter() - start)
        if number:
            n_pieces.append(int(sum((lengths[rows] + 2).sum() for rows in batches)))
    return seconds, n_pieces


def ours(
    tokenizer: WordPiece, ids: np.ndarray, starts: np.ndarray, lengths: np.ndarray, size: str, dropout: float
) -> Step:
    n_layers, width = SIZES[size]
    sizes = {"num_hidden_layers": n_layers, "hidden_size": width, "num_attention_heads": width // 64}
    drops = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    parts = {"intermediate_size": 4 * width, "vocab_size": N_PIECES, "pooler": False, "adjacent_head": False}
    config = BertConfig.model_validate({**sizes, **drops, **parts})
    model = MaskedLm(BertEncoder(config), BertHeads(config)).train()
    optimizer = optim.make("adamw", model, 1e-4, weight_decay=0.01)
    noise, rng = Noise(tokenizer.id_of("mask"), np.arange(5, tokenizer.n_pieces)), np.random.default_rng(0)
    cls, sep = tokenizer.id_of("cls"), tokenizer.id_of("sep")

    def step(rows: np.ndarray) -> None:
        nothing = np.zeros_like(rows)
        sequences = Sequences(starts[rows], lengths[rows], nothing, nothing, nothing > 0)
        examples = read(ids, sequences, False, cls, sep)
        task = Task.of(examples, mask(examples, Rates(), noise, False, rng), 0, len(rows))
        model.loss(task, len(task.targets), len(rows)).backward()
        optim.clip(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def theirs(
    tokenizer: WordPiece, ids: np.ndarray, starts: np.ndarray, lengths: np.ndarray, size: str
) -> dict[str, Step]:
    from transformers import AutoTokenizer, BertForMaskedLM, DataCollatorForLanguageModeling
    from transformers import BertConfig as TheirConfig

    with tempfile.TemporaryDirectory() as folder:
        tokenizer.write(Path(folder))
        their_tokenizer = AutoTokenizer.from_pretrained(folder)
    collate = DataCollatorForLanguageModeling(their_tokenizer)
    n_layers, width = SIZES[size]
    sizes = {"num_hidden_layers": n_layers, "hidden_size": width, "num_attention_heads": width // 64}
    model = BertForMaskedLM(TheirConfig(vocab_size=N_PIECES, intermediate_size=4 * width, **sizes)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    pieces, cls, sep = (ids & ~BEGINS).astype(np.int64), tokenizer.id_of("cls"), tokenizer.id_of("sep")

    def example(row: int) -> dict[str, Any]:
        found = [cls, *pieces[starts[row] : starts[row] + lengths[row]].tolist(), sep]
        return {"input_ids": found, "attention_mask": [1] * len(found)}

    def step(rows: np.ndarray) -> None:
        model(**collate([example(row) for row in rows.tolist()])).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return {"transformers": step}


if __name__ == "__main__":
    main()
