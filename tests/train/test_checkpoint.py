"""Checkpoints: the newest whole one is found, whatever happened to the others."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from polyseme.errors import Busy
from polyseme.files import damage, locked
from polyseme.train import checkpoint


def fill(content):
    def write(folder):
        (folder / "weights").write_bytes(content)
        (folder / "inner").mkdir()
        (folder / "inner" / "state.json").write_text("{}")

    return write


def test_the_newest_checkpoint_is_found_and_old_ones_are_dropped(tmp_path):
    assert checkpoint.newest(tmp_path) is None
    for step in (1, 5, 20, 100):
        checkpoint.save(tmp_path, step, fill(b"%d" % step))
    step, folder = checkpoint.newest(tmp_path)
    assert (step, (folder / "weights").read_bytes()) == (100, b"100")
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2


@pytest.mark.parametrize("damage_it", ["flip", "cut", "remove", "remove_manifest", "break_manifest"])
def test_a_damaged_checkpoint_is_named_and_passed_over(tmp_path, caplog, damage_it):
    for step in (1, 2):
        checkpoint.save(tmp_path, step, fill(b"weights of step %d" % step))
    weights = tmp_path / "checkpoints" / "step-000000002" / "weights"
    match damage_it:
        case "flip":
            weights.write_bytes(b"Weights of step 2")
        case "cut":
            weights.write_bytes(b"weights")
        case "remove":
            weights.unlink()
        case "remove_manifest":
            (weights.parent / "manifest.json").unlink()
        case "break_manifest":
            (weights.parent / "manifest.json").write_text('{"weights": "12')
    assert checkpoint.newest(tmp_path)[0] == 1
    assert "step-000000002" in caplog.text


def test_a_fresh_checkpoint_stays_when_all_later_ones_are_damaged(tmp_path):
    for step in (90, 100):
        checkpoint.save(tmp_path, step, fill(b"x"))
        (tmp_path / "checkpoints" / f"step-{step:09d}" / "weights").write_bytes(b"y")
    assert checkpoint.newest(tmp_path) is None
    for step in (20, 30):
        folder = checkpoint.save(tmp_path, step, fill(b"fresh"))
        assert checkpoint.newest(tmp_path) == (step, folder)
    assert sorted(path.name[-3:] for path in (tmp_path / "checkpoints").iterdir()) == ["020", "030"]


def test_a_writer_that_fails_leaves_nothing_behind(tmp_path):
    checkpoint.save(tmp_path, 1, fill(b"good"))

    def fails(folder):
        (folder / "weights").write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(tmp_path, 2, fails)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-000000001"]


def test_a_step_saved_again_replaces_its_folder(tmp_path):
    checkpoint.save(tmp_path, 1, fill(b"old"))
    folder = checkpoint.save(tmp_path, 1, fill(b"new"))
    assert (folder / "weights").read_bytes() == b"new"
    assert damage(folder) is None


WRITER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from polyseme.train import checkpoint
    step = int(sys.argv[2])
    while True:
        step += 1
        def write(folder):
            for part in range(20):
                (folder / f"part{part}").write_bytes(bytes([step % 256]) * 10000)
        checkpoint.save(Path(sys.argv[1]), step, write)
""")


def test_a_kill_at_any_moment_leaves_a_whole_checkpoint(tmp_path):
    last = 0
    for round in range(5):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(last)])
        while (checkpoint.newest(tmp_path) or (0,))[0] <= last and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.013 * round)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        last, folder = checkpoint.newest(tmp_path)
        assert {path.read_bytes() for path in folder.glob("part*")} == {bytes([last % 256]) * 10000}
    checkpoint.clean(tmp_path)
    assert all(path.name.startswith("step-") for path in (tmp_path / "checkpoints").iterdir())


HOLDER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from polyseme.files import locked
    with locked(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
""")


def test_a_second_run_on_a_folder_is_refused_and_told_who_holds_it(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Busy, match=str(holder.pid)), locked(tmp_path):
        pass
    holder.kill()
    holder.wait()
    with locked(tmp_path):  # the lock died with its owner
        assert (tmp_path / ".lock").read_text() == str(os.getpid())
