"""Builds that are cut short by limits, and crowds that build the same kernel at once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import workbench as wb

BUILD = """
import os, signal, sys, threading
import numpy as np
import workbench as wb
operator = wb.operator("def f(float(N) A) -> (B) { B(i) = A(i) * 3 + 1 }")
data = np.arange(8, dtype="f")
"""


def run(script: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BUILD) + textwrap.dedent(script)],
        env={**os.environ, "WORKBENCH_CACHE": str(cache), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_files_that_may_not_grow_are_an_error_and_no_crash(tmp_path: Path) -> None:
    done = run(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        try:
            print(np.array_equal(operator(data), data * 3 + 1))
        except wb.errors.WorkbenchError as error:
            print("error", error)
        """,
        tmp_path,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert done.stdout.startswith(("True", "error")), done.stdout


def test_eight_processes_call_an_operator_for_the_first_time(tmp_path: Path) -> None:
    script = textwrap.dedent(BUILD) + "print(np.array_equal(operator(data), data * 3 + 1))"
    environment = {**os.environ, "WORKBENCH_CACHE": str(tmp_path)}
    started = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    assert [p.communicate(timeout=120)[0].strip() for p in started] == ["True"] * 8


@pytest.mark.parametrize("threads", [0, -1, 10**6, 1.5, True, "2"])
def test_impossible_numbers_of_threads_are_refused(threads: object) -> None:
    operator = wb.ops.matmul
    with pytest.raises(wb.errors.WorkbenchError, match="threads"):
        wb.build(wb.schedule(operator), threads=threads)  # type: ignore[arg-type]
    with pytest.raises(wb.errors.WorkbenchError, match="threads"), wb.settings(threads=threads):
        operator(np.ones((2, 2), "f"), np.ones((2, 2), "f"))


def test_sizes_beyond_any_memory_are_planned_and_refused() -> None:
    plan = wb.autoschedule(wb.ops.matmul, M=1 << 40, N=1 << 20, K=1 << 30)
    assert "for " in str(plan)
    assert "int64_t" in wb.generate(plan).source
    with pytest.raises(wb.errors.WorkbenchError, match="more than any machine addresses"):
        wb.build(plan)
