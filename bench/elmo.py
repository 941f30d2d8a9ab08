"""ELMo against AllenNLP's own modules: the same random weights, the same sentences, one process.

    python bench/elmo.py sentences.txt --size original small --sentences 512 --rounds 5

One sentence a line. AllenNLP is called as its users call it (batch_to_ids, then the Elmo module, which mixes the
layers), in batches of 64, as the sentences come and sorted by length. Contestants take turns; medians are compared.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from elmo_rivals import allennlp
from torch.nn import functional as F

import polyseme
from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.encoders.known_words import word_vectors
from polyseme.layers.time_major import TimeMajor
from polyseme.text.batches import groups, take
from polyseme.text.characters import CharacterTokenizer
from polyseme.text.words import to_text

SIZES = {
    "original": ElmoConfig(),
    "small": ElmoConfig(n_highway=1, width=128, cell_width=1024),
    "tiny": ElmoConfig(filters=((1, 8), (3, 16)), n_highway=1, width=16, cell_width=32),
}
BATCH, BUDGET = 64, 8192


def main() -> None:
    asked = arguments()
    torch.set_num_threads(asked.threads)
    sentences = read(asked.file, asked.sentences)
    rival = allennlp(asked.allennlp)
    for name in asked.size:
        print(json.dumps(measure(name, sentences, rival, asked.rounds)))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--size", nargs="+", choices=SIZES, default=["original", "small"])
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--allennlp", type=Path, help="a folder of packages with allennlp in it; else it is installed")
    return parser.parse_args()


def read(path: Path, n: int) -> list[list[str]]:
    """Sentences of at most 100 words, drawn from the whole file."""
    lines = [line.split() if " " in line.strip() else [] for line in path.read_text().splitlines()]
    sentences = [to_text(" ".join(words)).words for words in lines if 2 <= len(words) <= 100]
    random.Random(1).shuffle(sentences)
    return sentences[:n]


def measure(name: str, sentences: list[list[str]], rival, rounds: int) -> dict:
    torch.manual_seed(0)
    ours = Pretrained(CharacterTokenizer(), ElmoEncoder(SIZES[name]).eval())
    with tempfile.TemporaryDirectory() as folder:
        polyseme.save(ours, Path(folder) / "elmo", format="elmo_hdf5")
        files = [str(Path(folder) / "elmo" / file) for file in ("options.json", "lm_weights.hdf5")]
        theirs = rival.Elmo(*files, num_output_representations=1, dropout=0.0).eval()
    by_length = sorted(sentences, key=len)
    contestants: dict[str, Callable[[], object]] = {
        "allennlp unsorted": lambda: run_theirs(rival, theirs, sentences),
        "allennlp sorted": lambda: run_theirs(rival, theirs, by_length),
        "polyseme": lambda: run_ours(ours, sentences, "float32", met_before=False),
        "polyseme, words met before": lambda: run_ours(ours, sentences, "float32", met_before=True),
        "polyseme int8": lambda: run_ours(ours, sentences, "int8", met_before=False),
        "lstm": lstm_alone(ours, sentences),
        "large product": large_product(),
    }
    checked = check(rival, theirs, ours, sentences)
    seconds = take_turns(contestants, rounds)
    n_words = sum(map(len, sentences))
    return {
        "size": name,
        "threads": torch.get_num_threads(),
        "sentences": len(sentences),
        "words": n_words,
        **checked,
        "words/s": {who: round(n_words / seconds[who]) for who in contestants if who not in ("lstm", "large product")},
        "ratio": {
            who: round(seconds["allennlp unsorted"] / seconds[who], 2)
            for who in contestants
            if who not in ("lstm", "large product")
        },
        **of_peak(SIZES[name], sentences, seconds),
    }


def take_turns(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {who: [] for who in contestants}
    for number in range(rounds + 1):  # the first round warms up
        for who, run in contestants.items():
            start = time.perf_counter()
            run()
            if number:
                seconds[who].append(time.perf_counter() - start)
        print(f"round {number} of {rounds}", file=sys.stderr)
    return {who: statistics.median(times) for who, times in seconds.items()}


def run_theirs(rival, elmo, sentences: list[list[str]], fresh: bool = False) -> list[torch.Tensor]:
    """One (words, width) tensor a sentence; `fresh` forgets the state that the module carries from batch to batch."""
    found = []
    with torch.no_grad():
        for start in range(0, len(sentences), BATCH):
            batch = sentences[start : start + BATCH]
            if fresh:
                elmo._elmo_lstm._elmo_lstm.reset_states()
            [vectors] = elmo(rival.batch_to_ids(batch))["elmo_representations"]
            found += [row[: len(sentence)] for row, sentence in zip(vectors, batch, strict=True)]
    return found


def run_ours(ours: Pretrained, sentences: list[list[str]], precision, met_before: bool, layers="mix"):
    ours.encoder.precision = precision
    if not met_before:
        with torch.no_grad():
            ours.encoder.words.characters.add_(0)  # looks like a change, so that no word vector is remembered
    return ours.embed(sentences, layers=layers)


def check(rival, theirs, ours: Pretrained, sentences: list[list[str]]) -> dict:
    """How far apart the vectors are, and how near int8 comes to float32."""
    some = sentences[:BATCH]
    wanted = run_theirs(rival, theirs, some, fresh=True)
    found = [torch.from_numpy(array) for array in run_ours(ours, some, "float32", met_before=False)]
    difference = max(float((one - other).abs().max()) for one, other in zip(found, wanted, strict=True))
    assert difference < 1e-5, f"the vectors differ by {difference}"
    top, rounded = (
        torch.cat([torch.from_numpy(array) for array in run_ours(ours, some, precision, True, "top")])
        for precision in ("float32", "int8")
    )
    return {"difference": difference, "int8 cosine, lowest": float(F.cosine_similarity(top, rounded).min())}


def lstm_alone(ours: Pretrained, sentences: list[list[str]]) -> Callable[[], object]:
    """The recurrent layers without the words below them, in the batches that embedding makes."""
    whole = ours.tokenizer.encode([to_text(words) for words in sentences])
    batches = [take(whole, group) for group in groups(whole.lengths, BUDGET)]

    def run() -> None:
        with torch.inference_mode():
            for batch in batches:
                ahead = back = word_vectors(ours.encoder.words, batch.spellings)[batch.ids]
                orders = TimeMajor.of(batch.offsets), TimeMajor.of(batch.offsets, reverse=True)
                for layer in ours.encoder.layers:
                    ahead, back, _ = layer(ahead, back, orders, (None, None), "float32")

    return run


PRODUCT = (2048, 4096, 2048)


def large_product() -> Callable[[], object]:
    rows, inner, columns = PRODUCT
    one, other = torch.randn(rows, inner), torch.randn(inner, columns)
    return lambda: one @ other


def of_peak(config: ElmoConfig, sentences: list[list[str]], seconds: dict[str, float]) -> dict:
    positions = sum(len(words) + 2 for words in sentences)
    weights = 2 * config.n_layers * (8 * config.width * config.cell_width + config.cell_width * config.width)
    lstm = 2 * positions * weights / seconds["lstm"] / 1e9
    rows, inner, columns = PRODUCT
    peak = 2 * rows * inner * columns / seconds["large product"] / 1e9
    return {"lstm GFLOP/s": round(lstm), "large product GFLOP/s": round(peak), "lstm of peak": round(lstm / peak, 2)}


if __name__ == "__main__":
    main()
