"""How fast texts become vectors with BERT, side by side with others, in interleaved rounds.

    python bench/bert.py FOLDER SENTENCES.txt [--long REVIEWS.txt] [--base] [--lengths] [--rivals OTHER/bin/python]

FOLDER is a BERT in the Hugging Face layout, the texts stand one a line. Every contender turns the same strings, cut
after 512 pieces, into vectors pooled by the mean over all pieces, so that results can be compared. --base repeats all
with random weights of the base size, --lengths shows what positions cost in short and in long texts. --rivals names the
Python of an environment with onnxruntime, openvino or ctranslate2, and with onnx, onnxscript, torch and transformers to
convert the model; see bert_rivals.py. Compare the ratios of one run only, and only where the spread is small.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from bert_lengths import by_length

from polyseme.encoders.sentences import sentence_vectors
from polyseme.formats import hf_bert

Timed = Callable[[list[str]], tuple[float, np.ndarray]]  # texts to seconds and vectors

PIECES = 512
_PAUSE = 0.3  # seconds, in which the threads of the one before stop waiting for more
REFERENCE = "transformers sdpa, 32, unsorted"


def main() -> None:
    options = parse()
    torch.set_num_threads(options.threads)
    texts = {"sentences": lines(options.sentences, options.limit)}
    if options.long:
        texts["reviews"] = lines(options.long, options.limit // 8)
    results: dict[str, object] = {}
    with ExitStack() as stack:
        folders = {options.folder.name: options.folder}
        if options.base:
            folders["base"] = base(options.folder, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        for model, folder in folders.items():
            with ExitStack() as engines:  # they end with this model: those of the base size take ten gigabytes
                contenders = ours(folder) | transformers(folder) | st(folder)
                if options.rivals:
                    contenders |= rivals(options.rivals, folder, options.threads, engines)
                for kind, some in texts.items():
                    some = some[: len(some) // 8] if model == "base" else some
                    print(f"\n{model}, {len(some)} {kind}, {options.threads} threads, {options.rounds} rounds")
                    results[f"{model}, {kind}"] = compare(contenders, some, options.rounds)
    if options.lengths:
        results["lengths"] = by_length(hf_bert.read(options.folder), options.rounds)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--long", type=Path, help="long texts, one a line; an eighth as many are read")
    parser.add_argument("--base", action="store_true", help="repeat with a random model of the base size")
    parser.add_argument("--lengths", action="store_true", help="time against positions at several mean lengths")
    parser.add_argument("--limit", type=int, default=512, help="how many sentences")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rivals", type=Path, help="the Python of an environment with other engines")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    return parser.parse_args()


def lines(path: Path, limit: int) -> list[str]:
    found = [line.strip() for line in path.read_text("utf-8").splitlines()]
    return [line for line in found if line][:limit]


def base(folder: Path, place: Path) -> Path:
    """A folder with random weights of the base size and the tokenizer of another folder."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    vocab_size = json.loads((folder / "config.json").read_text())["vocab_size"]
    config = BertConfig(vocab_size=vocab_size, position_embedding_type="absolute")  # CTranslate2 asks for it
    BertModel(config).save_pretrained(place)
    for path in folder.glob("*"):
        if path.name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
            shutil.copy(path, place)
    return place


def compare(contenders: dict[str, Timed], texts: list[str], rounds: int) -> dict[str, dict[str, float]]:
    for run in contenders.values():
        run(texts[:32])
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    vectors = {}
    names = list(contenders)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:  # nobody always comes behind the same one
            time.sleep(_PAUSE)
            taken, vectors[name] = contenders[name](texts)
            seconds[name].append(taken)
    rows = {name: figures(len(texts), name, seconds, vectors) for name in contenders}
    print(f"{'contender':36} {'per s':>8} {'ratio':>6} {'spread':>7} {'difference':>11} {'lowest cosine':>14}")
    for name, row in rows.items():
        print(
            f"{name:36} {row['per_second']:8.1f} {row['ratio']:6.2f} {row['spread']:7.0%} {row['difference']:11.1e} "
            f"{row['cosine']:14.5f}",
            flush=True,
        )
    return rows


def figures(n: int, name: str, seconds: dict[str, list[float]], vectors: dict[str, np.ndarray]) -> dict[str, float]:
    """The median, its ratio to that of the reference, the spread of the rounds, and how equal the vectors are."""
    median = statistics.median(seconds[name])
    return {
        "per_second": n / median,
        "ratio": statistics.median(seconds[REFERENCE]) / median,
        "spread": (max(seconds[name]) - min(seconds[name])) / median,
        "difference": float(np.abs(vectors[name] - vectors[REFERENCE]).max()),
        "cosine": float((vectors[name] * vectors[REFERENCE]).sum(1).min()),
    }


def timed(run: Callable[[list[str]], np.ndarray]) -> Timed:
    def call(texts: list[str]) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        vectors = run(texts)
        return time.perf_counter() - start, unit(vectors)

    return call


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def ours(folder: Path) -> dict[str, Timed]:
    pretrained = hf_bert.read(folder)
    pretrained = replace(pretrained, provenance={"sentence": {"pooling": "mean", "max_pieces": PIECES}})

    def run(texts: list[str], precision: str) -> np.ndarray:
        pretrained.encoder.precision = precision
        return sentence_vectors(pretrained, texts)

    return {
        "polyseme": timed(lambda texts: run(texts, "float32")),
        "polyseme, int8": timed(lambda texts: run(texts, "int8")),
    }


def transformers(folder: Path) -> dict[str, Timed]:
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
    cut = {"padding": "longest", "truncation": True, "max_length": PIECES, "return_tensors": "pt"}

    def embed(texts: list[str], order: np.ndarray) -> np.ndarray:
        vectors = np.empty((len(texts), model.config.hidden_size), np.float32)
        for start in range(0, len(texts), 32):
            rows = order[start : start + 32]
            inputs = tokenizer([texts[row] for row in rows], **cut)
            with torch.inference_mode():
                hidden = model(**inputs).last_hidden_state
            mask = inputs["attention_mask"].unsqueeze(-1)
            vectors[rows] = ((hidden * mask).sum(1) / mask.sum(1)).numpy()
        return vectors

    return {
        REFERENCE: timed(lambda texts: embed(texts, np.arange(len(texts)))),
        "transformers sdpa, 32, sorted": timed(lambda texts: embed(texts, np.argsort([len(text) for text in texts]))),
    }


def st(folder: Path) -> dict[str, Timed]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    model.max_seq_length = PIECES
    return {"sentence-transformers encode": timed(lambda texts: model.encode(texts, show_progress_bar=False))}


def rivals(python: Path, folder: Path, threads: int, stack: ExitStack) -> dict[str, Timed]:
    """Engines in another environment, asked line by line; they time themselves."""
    command = [python, Path(__file__).with_name("bert_rivals.py"), folder, str(threads), str(PIECES)]
    worker = stack.enter_context(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # ends with its input
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    questions, answers = worker.stdin, worker.stdout

    def ask(engine: str) -> Timed:
        def call(texts: list[str]) -> tuple[float, np.ndarray]:
            print(json.dumps({"engine": engine, "texts": texts}), file=questions, flush=True)
            answer = json.loads(answers.readline())
            return answer["seconds"], unit(np.load(answer["vectors"]))

        return call

    return {engine: ask(engine) for engine in json.loads(answers.readline())}


if __name__ == "__main__":
    main()
