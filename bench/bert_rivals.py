"""The engines bert.py compares with, in an environment of their own: asked on stdin, answering on stdout.

Each is there with all threads on one batch and, as one would tune it by hand, with one thread a batch and as many
batches at a time; in float32 and, where it can, in int8.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local

import numpy as np
from tokenizers import Tokenizer

Engine = Callable[[np.ndarray, np.ndarray], np.ndarray]  # ids and mask, both (batch, length), to (batch, length, width)
Build = Callable[[Path, Path, int, int, bool], Engine]  # folder, place for files, threads, workers, int8
NAMES = ["input_ids", "attention_mask", "token_type_ids"]


def main() -> None:
    folder, threads, pieces = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # converters print: what they say is no answer
    with tempfile.TemporaryDirectory() as place:
        engines = dict(built(folder, Path(place), threads))
        print(json.dumps(list(engines)), file=answers, flush=True)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(pieces)
        for line in sys.stdin:
            question = json.loads(line)
            start = time.perf_counter()
            vectors = embed(*engines[question["engine"]], tokenizer, question["texts"])
            seconds = time.perf_counter() - start
            path = Path(place) / "vectors.npy"
            np.save(path, vectors)
            print(json.dumps({"seconds": seconds, "vectors": str(path)}), file=answers, flush=True)


def embed(engine: Engine, workers: int, size: int, tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """The mean over all pieces, in batches of like length, the longest first."""
    rows = [np.array(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
    order = np.argsort([-len(row) for row in rows], kind="stable").tolist()
    batches = [order[start : start + size] for start in range(0, len(order), size)]

    def means(batch: list[int]) -> np.ndarray:
        lengths = np.array([len(rows[row]) for row in batch])
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        ids = np.zeros_like(mask)
        ids[mask == 1] = np.concatenate([rows[row] for row in batch])
        return np.einsum("nlw,nl->nw", engine(ids, mask), (mask / lengths[:, None]).astype(np.float32))

    with ThreadPoolExecutor(workers) as pool:
        found = np.concatenate(list(pool.map(means, batches)))
    return found[np.argsort(order)]


def built(folder: Path, place: Path, threads: int) -> Iterator[tuple[str, tuple[Engine, int, int]]]:
    """Every engine that is installed here; one that cannot be built is named and passed over."""
    builders: dict[str, Build] = {"onnxruntime": onnxruntime, "openvino": openvino, "ctranslate2": ctranslate2}
    for int8 in (False, True):
        for name, build in builders.items():
            for workers, size in {1: (1, 32), threads: (threads, 16)}.values():
                label = f"{name}{', int8' if int8 else ''}, {f'{workers} x 1 thread, ' if workers > 1 else ''}{size}"
                try:
                    yield label, (build(folder, place, threads // workers, workers, int8), workers, size)
                except Exception as error:  # whatever it is, the others can still run
                    print(f"without {label}: {str(error)[:300]}", file=sys.stderr)


def onnxruntime(folder: Path, place: Path, threads: int, workers: int, int8: bool) -> Engine:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads  # with one thread, each caller computes for itself
    path = rounded(fused(folder, place)) if int8 else fused(folder, place)
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda ids, mask: session.run(None, inputs(ids, mask))[0]


def openvino(folder: Path, place: Path, threads: int, workers: int, int8: bool) -> Engine:
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads * workers, "NUM_STREAMS": workers, "INFERENCE_PRECISION_HINT": "f32"}
    path = rounded(exported(folder, place)) if int8 else exported(folder, place)
    model = openvino.Core().compile_model(str(path), "CPU", settings)
    mine = local()

    def run(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        if not hasattr(mine, "request"):
            mine.request = model.create_infer_request()
        return mine.request.infer(inputs(ids, mask))[0]

    return run


def ctranslate2(folder: Path, place: Path, threads: int, workers: int, int8: bool) -> Engine:
    import ctranslate2

    converted = place / "ctranslate2"
    if not converted.exists():
        ctranslate2.converters.TransformersConverter(str(folder)).convert(str(converted))
    kind = "int8_float32" if int8 else "float32"
    encoder = ctranslate2.Encoder(
        str(converted), device="cpu", inter_threads=workers, intra_threads=threads, compute_type=kind
    )

    def run(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        rows = [row[:length].tolist() for row, length in zip(ids, mask.sum(1).tolist(), strict=True)]
        return np.array(encoder.forward_batch(rows).last_hidden_state)

    return run


def inputs(ids: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(NAMES, (ids, mask, np.zeros_like(ids)), strict=True))


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

        torch.onnx.export(
            Top().eval(),
            tuple(torch.full((2, 8), kind, dtype=torch.long) for kind in (5, 1, 0)),
            path,
            input_names=NAMES,
            output_names=["top"],
            dynamic_axes={name: {0: "sequences", 1: "length"} for name in (*NAMES, "top")},
            opset_version=17,
            dynamo=False,  # onnxruntime's optimiser does not know what the new exporter writes
        )
    return path


def fused(folder: Path, place: Path) -> Path:
    """The same with attention, gelu and layer norms as onnxruntime's own operators."""
    path = place / "fused.onnx"
    if not path.exists():
        from onnxruntime.transformers import optimizer

        config = json.loads((folder / "config.json").read_text())
        heads, width = config["num_attention_heads"], config["hidden_size"]
        optimizer.optimize_model(
            str(exported(folder, place)), model_type="bert", num_heads=heads, hidden_size=width
        ).save_model_to_file(str(path))
    return path


def rounded(path: Path) -> Path:
    """The same in 8 bits; 7 for weights, or AVX2's sums overflow."""
    target = path.with_suffix(".int8.onnx")
    if not target.exists():
        import onnx
        from onnxruntime.quantization import quantize_dynamic

        kinds = {"DefaultTensorType": onnx.TensorProto.FLOAT}
        quantize_dynamic(str(path), str(target), per_channel=True, reduce_range=True, extra_options=kinds)
    return target


if __name__ == "__main__":
    main()
