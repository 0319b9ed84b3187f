"""Tests that fork run in a process of their own.

A forked child cannot use OpenMP when its parent has: GCC's runtime waits there for threads that were not copied.  In a
run of all tests the parent has called compiled operators long before.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

import pytest

MARK = "WORKBENCH_TESTS_ALONE"
LIMIT_SECONDS = 4 * 3600


def elsewhere(request: pytest.FixtureRequest, report: Callable[[str], None] | None = None) -> bool:
    """Run the requesting test in a fresh process (True), or say that this is it (False)."""
    if os.environ.get(MARK):
        return False
    command = [sys.executable, "-m", "pytest", "-q", "-o", f"cache_dir={tempfile.mkdtemp()}"]
    done = subprocess.run(
        [*command, f"{request.node.path}::{request.node.name}"],
        env={**os.environ, MARK: "1"},
        cwd=request.config.rootpath,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    for line in done.stdout.splitlines():
        if report and ("programs (" in line or "statements in kernels" in line or line.startswith("refused:")):
            report(line)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return True
