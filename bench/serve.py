"""Requests a second and their delays, side by side with sentence-transformers behind FastAPI, in interleaved rounds.

    python bench/serve.py FOLDER SENTENCES.txt [--seconds 5] [--rounds 3] [--json FILE]

FOLDER is a BERT as sentence-transformers writes it, the texts stand one a line. Both servers run at once and are asked
in turn; the clients are one process on the same machine. Then ours alone: ten times too many clients and requests, and
200 half-sent requests beside one good client. Compare the ratios of one run only, and only on a machine that does
nothing else.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from serve_load import Seen, flood, load, requests

HERE = Path(__file__).resolve().parent
CLIENTS = (1, 8, 64)
HALF = b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"


def main() -> None:
    options = parse()
    texts = [line.strip() for line in options.sentences.read_text("utf-8").splitlines() if line.strip()][:512]
    some = requests(texts)
    results: dict[str, object] = {}
    with ExitStack() as stack:
        ports = {"polyseme serve": ours(options.folder, stack), "FastAPI alone": rival(options.folder, stack)}
        results["difference"] = difference(ports, texts[:16])
        for port in ports.values():
            load(port, some, 8, 1.0)  # warm
        results["clients"] = compare(ports, some, options.seconds, options.rounds)
    with ExitStack() as stack:
        # half-sent requests are to stay until the measurement is over
        receive = str(4 * options.seconds + 20)
        port = ours(options.folder, stack, "--waiting-tokens", "8192", "--receive", receive)
        load(port, some, 8, 1.0)
        results["overload"] = overload(port, some, options.seconds, options.rounds)
        results["half_open"] = half_open(port, some, options.seconds)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    return parser.parse_args()


def compare(ports: dict[str, int], some: list[bytes], seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    print(f"{'':24} {'clients':>8} {'per s':>8} {'spread':>7} {'p50 ms':>8} {'p99 ms':>8}")
    found: dict[str, dict[str, float]] = {}
    for n_clients in CLIENTS:
        seen: dict[str, list[Seen]] = {name: [] for name in ports}
        for _ in range(rounds):
            for name, port in ports.items():
                seen[name].append(load(port, some, n_clients, seconds))
        for name, runs in seen.items():
            row = figures(runs)
            found[f"{name}, {n_clients}"] = row
            print(
                f"{name:24} {n_clients:8} {row['rate']:8.1f} {row['spread']:7.0%} {row['p50']:8.1f} {row['p99']:8.1f}",
                flush=True,
            )
        first, second = (found[f"{name}, {n_clients}"]["rate"] for name in ports)
        print(f"{'ratio':24} {n_clients:8} {first / second:8.2f}", flush=True)
    return found


def figures(runs: list[Seen]) -> dict[str, float]:
    rates = [run.rate for run in runs]
    middle = statistics.median(rates)
    return {
        "rate": middle,
        "spread": (max(rates) - min(rates)) / middle if middle else 0.0,
        "p50": statistics.median(run.percentile(0.5) for run in runs),
        "p99": statistics.median(run.percentile(0.99) for run in runs),
    }


def overload(port: int, some: list[bytes], seconds: float, rounds: int) -> dict[str, object]:
    """What is answered of ten times the load: of as many clients who heed Retry-After, of as many requests a second."""
    found: dict[str, list[float]] = {"64 clients": [], "640 clients": [], "ten times the requests": []}
    statuses: Counter = Counter()
    print()
    for _ in range(rounds):
        peak = load(port, some, 64, 2 * seconds)
        many = load(port, some, 640, 4 * seconds)
        flooded = flood(port, some, 960, 4 * seconds, 10 * peak.rate)
        for name, seen in zip(found, (peak, many, flooded), strict=True):
            found[name].append(seen.rate)
            statuses += seen.statuses
        print(
            f"64 clients {peak.rate:.1f} a second; 640 that heed Retry-After {many.rate:.1f}; of {flooded.sent:.0f} "
            f"requests a second {flooded.rate:.1f}, while their clients took {flooded.cores:.2f} cores",
            flush=True,
        )
    best, many_rate, flood_rate = map(statistics.median, found.values())
    print(f"medians: {many_rate / best:.0%} and {flood_rate / best:.0%} of the best; {dict(statuses)}", flush=True)
    return {**found, "statuses": dict(statuses)}


def half_open(port: int, some: list[bytes], seconds: float) -> dict[str, float]:
    """One client's delays with and without 200 half-sent requests beside it."""
    before = load(port, some, 1, 2 * seconds)
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(HALF)
        beside = load(port, some, 1, 2 * seconds)
    row = {"p99 alone": before.percentile(0.99), "p99 beside": beside.percentile(0.99)}
    print(f"p99 of one client: {row['p99 alone']:.1f} ms; beside 200 half-sent requests {row['p99 beside']:.1f} ms")
    return row


def difference(ports: dict[str, int], texts: list[str]) -> float:
    """The largest between the vectors of the two."""
    found = []
    for port in ports.values():
        body, headers = json.dumps({"inputs": texts}).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{port}/embed", body, headers)
        with urllib.request.urlopen(request) as answer:
            found.append(np.array(json.load(answer)))
    largest = float(abs(found[0] - found[1]).max())
    print(f"largest difference of vectors {largest:.1e}")
    return largest


def ours(folder: Path, stack: ExitStack, *more: str) -> int:
    port = free_port()
    command = ["-m", "polyseme", "serve", f"model={folder}", "--port", str(port), *more]
    return started(command, port, stack)


def rival(folder: Path, stack: ExitStack) -> int:
    port = free_port()
    return started([str(HERE / "serve_rival.py"), str(folder), str(port)], port, stack)


def started(command: list[str], port: int, stack: ExitStack) -> int:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
    process = subprocess.Popen([sys.executable, *command], env=environment, stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
            return port
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{command} did not start")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as some:
        return int(some.getsockname()[1])


if __name__ == "__main__":
    main()
