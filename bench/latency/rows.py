"""The rows of a record that are latencies, each of what a module of this folder prints in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.record import Latency, Timing
from bench.workers.worker_pool import ROOT, THREAD_VARIABLES

# What is asked of them, in seconds.
CALL_LIMITS = {"op(A, B)": 5e-6, "kernel(A, B, out=C)": 3e-6}
FIRST_CALL_LIMIT = 1.5
BEFORE_COMPILER_LIMIT = 0.5
INTERACTIVE_LIMIT = 0.15
STEP_LIMITS = {
    "legality of an order step": 0.02,
    "can: an order step on the naive order": 0.005,
    "can: an order step on tiles": 0.005,
    "new C text after a step": 0.1,
    "a refusal with its repair": 2.0,
    "all steps that may come next": 2.0,
}
STORAGE_STEP_LIMIT = 0.2
CUDA_ON_CPU_LIMIT = 5.0

PROCESS_SECONDS = 600.0


def measured(say: Callable[[str], None], *, quick: bool = False) -> Iterator[Latency]:
    """All latencies; `quick` takes fewer rounds."""
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        for part in (_call_overhead, _first_call, _interactive, _stepping, _build_times, _cuda_on_cpu):
            say(f"latency: {part.__name__.strip('_').replace('_', ' ')}")
            yield from part(Path(folder) / part.__name__, quick)


def _call_overhead(folder: Path, quick: bool) -> Iterator[Latency]:
    rounds, seconds = ("3", "0.02") if quick else ("7", "0.1")
    for group, forms in _run("bench.latency.call_overhead", folder, rounds, seconds).items():
        for form, times in forms.items():
            timing = Timing.of(times, sum(map(len, times)))
            how = "a loop in C, the whole call" if form == "raw" else "above the raw call"
            yield Latency(f"call: {group}", form, timing, CALL_LIMITS.get(form), how)


def _first_call(folder: Path, quick: bool) -> Iterator[Latency]:
    """A fresh process and an empty cache; then again with what the cache has by then."""
    runs: dict[str, list[dict[str, float]]] = {"empty cache": [], "kernel in the cache": []}
    for number in range(2 if quick else 5):
        for found in runs.values():
            found.append(_run("bench.latency.first_call", folder / str(number)))
    for cache, found in runs.items():
        group = f"from import workbench to the first result (matmul 512), {cache}"
        for part, timing in _by_part(found).items():
            yield Latency(group, part, timing, FIRST_CALL_LIMIT if part == "all of it" else None)
        if "compiler" in found[0]:
            before = [sum(run[part] for part in _BEFORE_COMPILER) for run in found]
            how = f"{', '.join(_BEFORE_COMPILER)}"
            yield Latency(group, "before the compiler starts", _timing(before), BEFORE_COMPILER_LIMIT, how)


_BEFORE_COMPILER = ("import workbench", "load the rooms, NumPy and islpy", "from text to C")


def _interactive(folder: Path, quick: bool) -> Iterator[Latency]:
    answers = [_run("bench.latency.interactive", folder, "2" if quick else "9") for _ in range(1 if quick else 3)]
    titles = {"first": "the first in a process, bound", "bound": "warm, bound", "symbolic": "warm, symbolic"}
    for key, title in titles.items():
        found = [steps for answer in answers for steps in answer[key]]
        for part, timing in _by_part(found).items():
            limit = INTERACTIVE_LIMIT if part == "all of it" and key != "first" else None
            yield Latency(f"interactive steps of a convolution of 7 loops, {title}", part, timing, limit)


def _stepping(folder: Path, quick: bool) -> Iterator[Latency]:
    found = _run("bench.latency.stepping", folder, "2" if quick else "9")
    for sizes, rounds in found["questions"].items():
        group = f"questions about a schedule of a convolution of 7 loops, {sizes}"
        for part in rounds[0]:
            timing = _timing([seconds for asked in rounds for seconds in asked[part]])
            yield Latency(group, part, timing, STEP_LIMITS.get(part, _storage_limit(part)))
    for kind, taken in found["steps"].items():
        yield from _step_kind(kind, taken)


def _step_kind(kind: str, taken: list[tuple[float, float, str]]) -> Iterator[Latency]:
    """A kind of step over operators: CPU seconds, and beside them the wall clock, which others may have held up."""
    group = "storage and instance steps over operators, symbolic sizes, legality included"
    worst = max(taken, key=lambda t: t[1])
    how = f"worst {1000 * worst[1]:.0f} ms: {worst[2]}"
    yield Latency(group, f"{kind}, CPU", _timing([cpu for _, cpu, _ in taken]), STORAGE_STEP_LIMIT, how)
    yield Latency(group, f"{kind}, wall", _timing([wall for wall, _, _ in taken]), None)


def _storage_limit(part: str) -> float | None:
    return STORAGE_STEP_LIMIT if part.startswith("legality of ") else None


def _build_times(folder: Path, quick: bool) -> Iterator[Latency]:
    for compiler, cases in _run("bench.latency.build_times", folder, "1" if quick else "3").items():
        for case, seconds in cases.items():
            yield Latency(f"building with {compiler}", case, _timing(seconds), None, "compile, link and load")


def _cuda_on_cpu(folder: Path, quick: bool) -> Iterator[Latency]:
    found = _run("bench.latency.cuda_on_cpu", folder, "2" if quick else "7")
    group = "CUDA text on the processor: matmul in tiles with two buffers each"
    yield Latency(group, "256³, a call on two workers", _timing(found["executed"]), CUDA_ON_CPU_LIMIT)
    yield Latency(group, "32³, wb.sanitize", _timing(found["sanitized"]), None, "three orders, every access watched")


def _by_part(runs: list[dict[str, float]]) -> dict[str, Timing]:
    return {part: _timing([run[part] for run in runs]) for part in runs[0]}


def _timing(seconds: list[float]) -> Timing:
    """Each run is a round."""
    return Timing.of([[s] for s in seconds], len(seconds))


def _run(module: str, cache: Path, *arguments: str) -> Any:
    """What a module prints, in a fresh process with one thread and a cache of its own."""
    cache.mkdir(parents=True, exist_ok=True)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    # Without the variable: a user's interpreter keeps the bytecode of what it has imported once.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {
        **kept,
        **dict.fromkeys(THREAD_VARIABLES, "1"),
        "WORKBENCH_CACHE": str(cache),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    command = [sys.executable, "-m", module, *arguments]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PROCESS_SECONDS)
    if run.returncode:
        raise RuntimeError(f"{module} ended with status {run.returncode}: {run.stderr.strip()[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])
