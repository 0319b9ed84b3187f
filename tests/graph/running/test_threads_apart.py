"""Threads of a built model that share a processor part, and stay allowed wherever they were."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import ROOT

PROGRAM = """
#include "runner.c"
#include <stdio.h>

/* Whether the second of two threads that are on these processors goes elsewhere, and is allowed what it was. */
static void tell(const char *what, const cpu_set_t *allowed, int first) {
    cpu_set_t after;
    sched_setaffinity(0, sizeof *allowed, allowed);
    int here = sched_getcpu(), at[2] = {first == 0 ? here : first, here};
    wb_model_leave(at, 1, 2);
    int left = sched_getcpu() != here;
    sched_getaffinity(0, sizeof after, &after);
    printf("%s: left %d, allowed %d\\n", what, left, CPU_EQUAL(&after, allowed));
}

int main(void) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    tell("with another", &all, 0);
    tell("with nobody", &all, -1);
    tell("bound", &one, 0);
    wb_model_part(2);
    return 0;
}
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not tell a process's processors")
@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="one processor")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="install gcc: threads are those of its OpenMP")
def test_who_shares_a_processor_leaves_it(tmp_path: Path):
    (tmp_path / "parting.c").write_text(PROGRAM)
    flags = ["-std=gnu11", "-O1", "-fopenmp", f"-I{ROOT / 'workbench' / 'graph' / 'running'}"]
    subprocess.run(["gcc", *flags, "parting.c", "-o", "parting"], cwd=tmp_path, check=True)
    ran = subprocess.run([tmp_path / "parting"], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.splitlines() == [
        "with another: left 1, allowed 1", "with nobody: left 0, allowed 1", "bound: left 0, allowed 1",
    ]  # fmt: skip
