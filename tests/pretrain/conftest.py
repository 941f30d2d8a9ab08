"""A little grammar to learn, and runs that are killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# the command, saving far more often than once a minute
IMPATIENT = """
import sys
from polyseme.pretrain import run
run._SAVE_EVERY, run._SAVING = 0.05, 1.0
from polyseme.cli import main
sys.argv[0] = "polyseme"
main()
"""


@pytest.fixture(scope="session")
def grammar():
    """Sentences of a little grammar: who does what where."""

    def text(n_sentences: int, seed: int = 0) -> str:
        draw = random.Random(seed)
        who, does = ["the cat", "a dog", "my friend"], ["sleeps", "sings", "waits"]
        where = ["here", "in town", "at home"]
        lines = [f"{draw.choice(who)} {draw.choice(does)} {draw.choice(where)} ." for _ in range(n_sentences)]
        return "\n".join(lines[i] + ("\n" if i % 5 == 4 else "") for i in range(n_sentences)) + "\n"

    return text


@pytest.fixture(scope="session")
def corpus(grammar, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text(grammar(400))
    return path


@pytest.fixture
def reading() -> dict[str, str]:
    """How a text is read where nobody says anything else."""
    return {"split": "rules", "field": "text", "errors": "strict"}


@pytest.fixture
def one_process(monkeypatch) -> None:
    """Small texts are read here: processes take longer to start than to work."""
    monkeypatch.setattr("polyseme.text.chunks.os.cpu_count", lambda: 1)


@pytest.fixture
def kept_runs(tmp_path) -> Path:
    """Where a test's long run is: with POLYSEME_KEPT_RUNS in a folder that stays, so that it goes on where it was."""
    return Path(os.environ.get("POLYSEME_KEPT_RUNS", tmp_path))


@pytest.fixture(scope="session")
def run_with_kills():
    """Run the command, kill it at random moments behind a new checkpoint, and let it end; how often it was killed."""

    def run(name: str, corpus: Path, out: Path, settings: list[str], kills: int, valid: Path | None = None) -> int:
        draw, killed = random.Random(1), 0
        changes = [part for setting in settings for part in ("--set", setting)]
        command = [sys.executable, "-c", IMPATIENT, "pretrain", name, "--corpus", str(corpus), "--out", str(out)]
        command += ["--valid", str(valid)] if valid else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}  # this source, not an installed one
        settled = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        while killed < kills:
            before = steps_saved(out)
            process = subprocess.Popen([*command, *changes], **settled)
            while steps_saved(out) <= before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(draw.random() * 0.2)
            if process.poll() is not None:
                break  # it was done before it could be killed
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
        subprocess.run([*command, *changes], check=True, **settled)
        return killed

    return run


def steps_saved(out: Path) -> int:
    return max((int(folder.name[5:]) for folder in (out / "checkpoints").glob("step-*")), default=0)
