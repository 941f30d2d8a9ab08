"""How fast sentences become vectors with BERT, side by side with others, in one interleaved run.

    python bench/bert.py FOLDER SENTENCES.txt --limit 512 --rounds 5 [--rivals OTHER/bin/python]

FOLDER is a BERT in the Hugging Face layout, SENTENCES.txt has one sentence a line. Every contender turns the same
strings into vectors pooled by the mean over all pieces, so that results can be compared. --rivals names the Python of
an environment with onnxruntime, openvino or ctranslate2, and with onnx, onnxscript, torch and transformers to convert
the model; see bert_rivals.py. Compare the ratios of one run only, and only where the spread is small.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from polyseme.encoders.sentences import sentence_vectors
from polyseme.formats import hf_bert

Timed = Callable[[list[str]], tuple[float, np.ndarray]]  # texts to seconds and vectors


def main() -> None:
    options = parse()
    torch.set_num_threads(options.threads)
    lines = [line.strip() for line in options.sentences.read_text("utf-8").splitlines()]
    texts = [line for line in lines if line][: options.limit]
    contenders = ours(options.folder, options.threads) | transformers(options.folder) | st(options.folder)
    if options.rivals:
        contenders |= rivals(options.rivals, options.folder, options.threads)
    for run in contenders.values():
        run(texts[:32])
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    vectors = {}
    for _ in range(options.rounds):
        for name, run in contenders.items():
            taken, vectors[name] = run(texts)
            seconds[name].append(taken)
    report(len(texts), seconds, vectors)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--limit", type=int, default=512, help="how many sentences")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rivals", type=Path, help="the Python of an environment with other engines")
    return parser.parse_args()


def report(n: int, seconds: dict[str, list[float]], vectors: dict[str, np.ndarray]) -> None:
    """Medians, the spread of the rounds, the ratio to the first contender of transformers, and equality with it."""
    first = REFERENCE
    median = {name: statistics.median(taken) for name, taken in seconds.items()}
    print(f"{'contender':34} {'per s':>8} {'ratio':>6} {'spread':>7} {'largest difference':>19} {'cosine':>8}")
    for name, taken in seconds.items():
        cosine = (vectors[name] * vectors[first]).sum(1).min()
        difference = np.abs(vectors[name] - vectors[first]).max()
        spread = (max(taken) - min(taken)) / median[name]
        print(
            f"{name:34} {n / median[name]:8.0f} {median[first] / median[name]:6.2f} {spread:7.0%} {difference:19.1e} "
            f"{cosine:8.5f}"
        )


def timed(run: Callable[[list[str]], np.ndarray]) -> Timed:
    def call(texts: list[str]) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        vectors = run(texts)
        return time.perf_counter() - start, unit(vectors)

    return call


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def ours(folder: Path, threads: int) -> dict[str, Timed]:
    pretrained = hf_bert.read(folder)
    pretrained = replace(pretrained, provenance={"sentence": {"pooling": "mean", "normalise": False}})
    workers = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    def shared(texts: list[str]) -> np.ndarray:
        parts = [texts[start::threads] for start in range(threads)]
        vectors = np.empty((len(texts), pretrained.encoder.widths[-1]), np.float32)
        for start, found in enumerate(workers.map(lambda part: sentence_vectors(pretrained, part), parts)):
            vectors[start::threads] = found
        return vectors

    found = {"polyseme": timed(lambda texts: sentence_vectors(pretrained, texts))}
    return found if threads == 1 else found | {f"polyseme, {threads} workers of one thread": timed(shared)}


REFERENCE = "transformers sdpa, 32, unsorted"


def transformers(folder: Path) -> dict[str, Timed]:
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()

    def embed(texts: list[str], order: np.ndarray) -> np.ndarray:
        vectors = np.empty((len(texts), model.config.hidden_size), np.float32)
        for start in range(0, len(texts), 32):
            rows = order[start : start + 32]
            inputs = tokenizer([texts[row] for row in rows], padding="longest", truncation=True, return_tensors="pt")
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
    return {"sentence-transformers encode": timed(lambda texts: model.encode(texts, show_progress_bar=False))}


def rivals(python: Path, folder: Path, threads: int) -> dict[str, Timed]:
    """Engines in another environment, asked line by line; they time themselves."""
    worker = subprocess.Popen(
        [python, Path(__file__).with_name("bert_rivals.py"), folder, str(threads)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
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
