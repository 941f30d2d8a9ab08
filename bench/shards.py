"""How fast shards are built, and in how much memory: python bench/shards.py [corpus file] [--mb 300]."""

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from polyseme.text import shards
from polyseme.text.corpus import passages

MB = 1_000_000


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        print("| text | MB | words | types | seconds | MB/s | peak RSS of all processes | CPU seconds a second |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
        for name, size, end in (("paragraphs", options.mb, "\n"), ("one line", options.line_mb, " ")):
            path = Path(folder) / f"{name}.txt"
            write(path, options.corpus, size * MB, end)
            print(row(name, path, measured(path, Path(folder) / name, options.processes)), flush=True)
            path.unlink()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, nargs="?", help="a text to take paragraphs from; made-up words without")
    parser.add_argument("--mb", type=int, default=300, help="size of the text of paragraphs")
    parser.add_argument("--line-mb", type=int, help="size of the text of one line (default: 10/3 of --mb)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, help="where to put some gigabytes for a while")
    options = parser.parse_args()
    options.line_mb = options.line_mb or options.mb * 10 // 3
    return options


def write(path: Path, corpus: Path | None, n_bytes: int, end: str) -> None:
    """A text of that size: the corpus, as often as it takes, with `end` behind each paragraph."""
    with path.open("wb") as file:
        while file.tell() < n_bytes:
            for paragraph in invented() if corpus is None else texts(corpus):
                file.write((paragraph + end).encode())
                if file.tell() >= n_bytes:
                    return


def texts(corpus: Path) -> Iterator[str]:
    for passage in passages(corpus):
        yield passage.string
        if passage.ends_document:
            yield ""


def invented() -> Iterator[str]:
    """Paragraphs of words that are about as frequent, and as long, as those of a language."""
    draw = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = ["".join(draw.choice(letters, size=2 + min(10, rank.bit_length() // 2))) for rank in range(200_000)]
    while True:
        ranks = np.minimum(draw.zipf(1.15, size=100), len(words)) - 1
        yield ", ".join(" ".join(words[rank] for rank in part) for part in np.split(ranks, 5)).capitalize() + "."


def measured(path: Path, folder: Path, processes: int) -> tuple[float, float, int, shards.Meta]:
    """Seconds, CPU seconds and peak memory of a build in a process of its own."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    builder = context.Process(target=build, args=(path, folder, processes, there))
    builder.start()
    there.close()
    peak = 0
    while not here.poll(0.05):
        peak = max(peak, resident(builder.pid))
    seconds, cpu, meta = here.recv()
    builder.join()
    return seconds, cpu, peak, meta


def build(path: Path, folder: Path, processes: int, answer: Connection) -> None:
    started = time.perf_counter()
    built = shards.build(path, folder, processes=processes)
    seconds = time.perf_counter() - started
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    answer.send((seconds, sum(who.ru_utime + who.ru_stime for who in used), built.meta))


def resident(pid: int | None) -> int:
    """Bytes in memory of a process and all below it; pages that they share count for each."""
    total = 0
    process = psutil.Process(pid)
    for each in (process, *process.children(recursive=True)):
        try:
            total += each.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def row(name: str, path: Path, result: tuple[float, float, int, shards.Meta]) -> str:
    seconds, cpu, peak, meta = result
    size = path.stat().st_size / MB
    figures = f"{size:.0f} | {meta.n_words:,} | {meta.n_types:,} | {seconds:.1f} | {size / seconds:.1f}"
    return f"| {name} | {figures} | {peak / MB:.0f} MB | {cpu / seconds:.2f} |"


if __name__ == "__main__":
    main()
