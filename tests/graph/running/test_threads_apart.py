"""Threads of a built model that share a processor part, and stay allowed wherever they were."""

import os
import subprocess
import sys

import pytest

from workbench.runtime.compilers.discovery import preferred_toolchain

PROGRAM = """
import os, time
import numpy as np
import workbench as wb

def tasks():
    return set(map(int, os.listdir("/proc/self/task")))

def processor(task):
    return int(open(f"/proc/self/task/{task}/stat").read().rpartition(")")[2].split()[36])

model = wb.model("fn main(x: float32[256, 256], w: float32[256, 256]) { matmul(matmul(x, w), w) }")
built = wb.build(model, threads=2)
x = np.ones((256, 256), np.float32)
before = tasks()
built(x, x)
(helper,) = tasks() - before
allowed = os.sched_getaffinity(0)
here, *others = sorted(allowed)[:2]
os.sched_setaffinity(os.getpid(), {here})
os.sched_setaffinity(helper, {here})
built(x, x)
assert processor(helper) == here
os.sched_setaffinity(helper, allowed)  # it may go now, and is not made to
time.sleep(0.02)
for _ in range(3):
    built(x, x)
    time.sleep(0.02)
print(processor(helper) != here, os.sched_getaffinity(helper) == allowed)
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not tell a process's processors")
@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="one processor")
def test_two_threads_on_one_processor_part():
    if not preferred_toolchain().openmp:
        pytest.skip("the compiler has no OpenMP")
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "WORKBENCH_THREADS": "2"}
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["True", "True"]
