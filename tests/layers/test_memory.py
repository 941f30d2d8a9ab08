import os
import subprocess
import sys

import pytest

FAULTS = """
import ctypes, resource, sys, threading, torch
from polyseme.layers.memory import keep_memory
mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
if mallopt is not None:
    mallopt(-1, 128 << 10), mallopt(-3, 128 << 10)  # what glibc begins with; told so, it does not raise them by itself
print(keep_memory() if sys.argv[1] == "keep" else False)
def work():
    for round in range(10):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        some = [torch.ones(250_000) for _ in range(20)]  # 20 MB
        del some
        found.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
found = []
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(sorted(found)[5])
"""


def run(what="keep", **more):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run([sys.executable, "-c", FAULTS, what], env={**plain, **more}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kept, n_faults = done.stdout.split()
    return kept == "True", int(n_faults)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks glibc")
def test_memory_that_was_freed_comes_back_without_the_system():
    kept, n_faults = run()
    if not kept:
        pytest.skip("this C library has no mallopt")
    _, otherwise = run("plain")
    assert n_faults < otherwise / 4  # 20 MB are 5,000 pages


def test_who_has_settled_it_is_left_alone():
    assert not run(MALLOC_ARENA_MAX="4")[0]
