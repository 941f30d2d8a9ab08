"""The engines bert.py compares with, in an environment of their own: asked on stdin, answering on stdout."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

Engine = Callable[[np.ndarray, np.ndarray], np.ndarray]  # ids and mask, both (batch, length), to (batch, length, width)


def main() -> None:
    folder, threads = Path(sys.argv[1]), int(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # converters print: what they say is no answer
    with tempfile.TemporaryDirectory() as place:
        engines = dict(built(folder, Path(place), threads))
        print(json.dumps(list(engines)), file=answers, flush=True)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(512)
        for line in sys.stdin:
            question = json.loads(line)
            start = time.perf_counter()
            vectors = embed(engines[question["engine"]], tokenizer, question["texts"])
            seconds = time.perf_counter() - start
            path = Path(place) / "vectors.npy"
            np.save(path, vectors)
            print(json.dumps({"seconds": seconds, "vectors": str(path)}), file=answers, flush=True)


def embed(engine: Engine, tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """The mean over all pieces, in batches of 32 of like length."""
    rows = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    order = np.argsort([len(row) for row in rows], kind="stable")
    vectors: list[np.ndarray] = [np.empty(0)] * len(rows)
    for start in range(0, len(rows), 32):
        batch = order[start : start + 32].tolist()
        longest = max(len(rows[row]) for row in batch)
        ids, mask = np.zeros((len(batch), longest), np.int64), np.zeros((len(batch), longest), np.int64)
        for place, row in enumerate(batch):
            ids[place, : len(rows[row])] = rows[row]
            mask[place, : len(rows[row])] = 1
        hidden = engine(ids, mask)
        means = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        for place, row in enumerate(batch):
            vectors[row] = means[place]
    return np.stack(vectors).astype(np.float32)


def built(folder: Path, place: Path, threads: int) -> Iterator[tuple[str, Engine]]:
    """Every engine that is installed here; one that cannot be built is named and passed over."""
    for name, build in (("onnxruntime", onnxruntime), ("openvino", openvino), ("ctranslate2", ctranslate2)):
        try:
            yield f"{name}, 32, sorted", build(folder, place, threads)
        except Exception as error:  # whatever it is, the others can still run
            print(f"without {name}: {error}", file=sys.stderr)


def onnxruntime(folder: Path, place: Path, threads: int) -> Engine:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(exported(folder, place), options, providers=["CPUExecutionProvider"])
    return lambda ids, mask: session.run(
        None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    )[0]


def openvino(folder: Path, place: Path, threads: int) -> Engine:
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    model = openvino.Core().compile_model(str(exported(folder, place)), "CPU", settings)
    return lambda ids, mask: model({"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})[
        0
    ].copy()


def ctranslate2(folder: Path, place: Path, threads: int) -> Engine:
    import ctranslate2

    converted = ctranslate2.converters.TransformersConverter(str(folder)).convert(str(place / "ctranslate2"))
    encoder = ctranslate2.Encoder(converted, device="cpu", intra_threads=threads)

    def run(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        rows = [row[: int(length)].tolist() for row, length in zip(ids, mask.sum(1), strict=True)]
        return np.array(encoder.forward_batch(rows).last_hidden_state)

    return run


def exported(folder: Path, place: Path) -> Path:
    """The model as ONNX, with any number of sequences of any length."""
    path = place / "model.onnx"
    if not path.exists():
        import torch
        from transformers import AutoModel

        class Top(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

            def forward(self, input_ids, attention_mask, token_type_ids):
                return self.model(input_ids, attention_mask, token_type_ids).last_hidden_state

        names = ["input_ids", "attention_mask", "token_type_ids"]
        free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
        torch.onnx.export(
            Top().eval(),
            tuple(torch.full((2, 8), kind, dtype=torch.long) for kind in (5, 1, 0)),
            path,
            input_names=names,
            dynamic_shapes=dict.fromkeys(names, free),
            dynamo=True,
        )
    return path


if __name__ == "__main__":
    main()
