import os
import subprocess
import sys

import pytest

FAULTS = """
import resource, torch
from polyseme.layers.memory import keep_memory
print(keep_memory())
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(2_000_000).add_(1)  # 8 MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""


def run(**more):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run([sys.executable, "-c", FAULTS], env={**plain, **more}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kept, n_faults = done.stdout.split()
    return kept == "True", int(n_faults)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks glibc")
def test_memory_that_was_freed_comes_back_without_the_system():
    kept, n_faults = run()
    if not kept:
        pytest.skip("this C library has no mallopt")
    assert n_faults < 500  # 20 times 8 MB are 40,000 pages


def test_who_has_settled_it_is_left_alone():
    assert not run(MALLOC_ARENA_MAX="4")[0]
