"""The tests marked `gpu`, dealt to several processes that share the GPU, each with a time limit."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.gpu.installing import environment
from bench.gpu.results import ROOT, Entry

PIECE = 12
Keep = Callable[[str, Entry], None]


def collected(profile: str) -> list[str]:
    """The names of all tests marked `gpu`."""
    command = (
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-m",
        "gpu",
        "-p",
        "no:cacheprovider",
        "tests/gpu",
    )
    variables = {**environment(), "HYPOTHESIS_PROFILE": profile}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    names = [line.strip() for line in done.stdout.splitlines() if "::" in line]
    if not names:
        raise RuntimeError(f"no test was collected: {(done.stdout + done.stderr)[-1000:]}")
    return names


def run_tests(names: Sequence[str], workers: int, profile: str, deadline: float, keep: Keep) -> None:
    """Run the tests until they are done or `time.monotonic()` has come to `deadline`; `keep` gets the outcomes."""
    pieces = [list(names[n : n + PIECE]) for n in range(0, len(names), PIECE)]

    def work(piece: list[str]) -> None:
        while piece and time.monotonic() < deadline:
            piece = _rest(piece, profile, deadline, keep)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, pieces))


def _rest(piece: list[str], profile: str, deadline: float, keep: Keep) -> list[str]:
    """Run one process of tests; what it did not come to."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "report")
        said = _run(piece, profile, report, deadline)
        lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    done: dict[str, Entry] = {}
    for line in map(json.loads, lines):
        name = line.pop("test")
        if name not in done or line["outcome"] != "passed":
            done[name] = line
    for name, entry in done.items():
        keep(name, entry)
    rest = [name for name in piece if name not in done]
    if said is None:
        return []
    if rest and (said or len(rest) == len(piece)):
        # The process ended in the middle of this test, or could not begin.
        keep(rest[0], {"outcome": "crashed", "seconds": 0, "said": said[-2000:]})
        return rest[1:]
    return rest


def _run(piece: list[str], profile: str, report: Path, deadline: float) -> str | None:
    """What the process said if it ended badly, "" if it ended well, None if the clock ended it."""
    command = (sys.executable, "-m", "pytest", "-q", "-p", "bench.gpu.reporting", "-p", "no:cacheprovider", *piece)
    variables = {**environment(), "HYPOTHESIS_PROFILE": profile, "WB_GPU_REPORT": str(report)}
    left = deadline - time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=max(1, left), check=False
        )
    except subprocess.TimeoutExpired:
        return None
    ended_well = done.returncode in (0, 1, 2)  # passed, failed, stopped because the GPU was lost
    return "" if ended_well else f"exit status {done.returncode}: {done.stdout[-1500:]}{done.stderr[-500:]}"
