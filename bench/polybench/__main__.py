"""`python -m bench.polybench`: the PolyBench kernels from C, against compilers that optimise the text themselves.

Ours is `wb.from_c` with the default recipe, for the sizes at hand; each contender works in a process of its own, in
turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import workbench as wb
from bench import facts
from bench.page import leave
from bench.polybench import kernels
from bench.polybench.compilers import COMPILERS, missing
from bench.record import OUT, RESULTS, Comparison, Record, Result, Timing
from bench.workers.worker_pool import Worker
from workbench import poly
from workbench.errors import WorkbenchError

OURS, BASELINE = "workbench", "sequential"
FORM = "preallocated"
PREPARE_SECONDS, TURN_SECONDS = 600.0, 300.0
# (seconds of the slowest first call, most turns): a kernel that takes longer is timed in fewer turns.
PATIENCE = ((30.0, 1), (3.0, 2))
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Effort:
    """`rounds` turns of about `seconds`; sums in any order if `reassociate` (and -ffast-math for the others)."""

    rounds: int = 5
    seconds: float = 0.2
    reassociate: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 if a contender failed or computed something else."""
    options = _options(arguments)
    names = [n for n in kernels.LARGE if not options.filters or any(f in n for f in options.filters)]
    effort = Effort(options.rounds, options.seconds, options.reassociate)
    before = facts.load()
    rows = tuple(
        row for threads in options.threads for row in _compared(names, threads, effort, large=options.size == "large")
    )
    settings = {**asdict(effort), "size": options.size, "kernels": "PolyBench/C 4.2.1, double"}
    date = datetime.now(UTC).isoformat(timespec="seconds")
    record = Record(facts.machine(), facts.software(), settings, {"before": before, "after": facts.load()}, rows, date)
    leave(record, options.output or (RESULTS if options.size == "large" else OUT), "-polybench")
    reasons = [r.missing for row in rows for r in row.results.values()]
    return int(any(reason.startswith(("failed", "differs")) for reason in reasons))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.polybench", description=__doc__)
    add = parser.add_argument
    add("filters", nargs="*", help="parts of names of kernels; all thirty if none")
    add("--size", choices=("large", "small"), default="large", help="LARGE, or an eighth of it with 20 time steps")
    add("--threads", type=lambda text: [int(t) for t in text.split(",")], default=[1, 2], help="with commas (1,2)")
    add("--rounds", type=int, default=5, help="turns for each contender (5; 2 for what takes over 3 s, 1 over 30 s)")
    add("--seconds", type=float, default=0.2, help="length of a turn, one call at least (0.2)")
    add("--reassociate", action="store_true", help="sums in any order, and -ffast-math for the others")
    add("--output", type=Path, help="folder for the JSON and the table")
    return parser.parse_args(arguments)


def _compared(names: Sequence[str], threads: int, effort: Effort, *, large: bool) -> Iterator[Comparison]:
    others = [c for c in COMPILERS if threads > 1 or c != "gcc -O3"]
    with TemporaryDirectory(prefix="workbench-bench-") as folder, ExitStack() as stack:
        place = Path(folder)
        workers = {
            c: Worker(c, threads, place / c.replace(" ", "-"), "bench.polybench.worker") for c in (OURS, *others)
        }
        for worker in workers.values():
            stack.callback(worker.close)
        for name in names:
            row = compare(name, kernels.sizes(name, large=large), workers, effort, place)
            ratios = ", ".join(f"{c} {r[FORM]:.2f}" for c, r in row.ratios.items() if FORM in r)
            print(f"{threads} thread{'s' * (threads > 1)}, {name}: {ratios}", file=sys.stderr, flush=True)
            yield row


def compare(name: str, sizes: dict[str, int], workers: dict[str, Worker], effort: Effort, folder: Path) -> Comparison:
    """Every contender at one kernel: results compared with those of the sequential text, then times in turns."""
    request = {"do": "prepare", "kernel": name, "sizes": sizes, "reassociate": effort.reassociate}
    results = {c: _prepared(c, workers[c], request) for c in workers}
    results, first = _checked(name, workers, results, folder)
    rounds = min([effort.rounds, *(few for seconds, few in PATIENCE if first > seconds)])
    results = _timed(workers, results, rounds, effort.seconds)
    ratios = {c: _ratio(r, results[OURS]) for c, r in results.items() if c != OURS}
    flops = _flops(name, sizes)
    return Comparison(name, name, sizes, workers[OURS].threads, False, flops, 0, results, None, ratios)


def _flops(name: str, sizes: dict[str, int]) -> int:
    try:
        return poly.flops(wb.lower(wb.from_c(kernels.text(name)), sizes))
    except WorkbenchError:
        return 0


def _prepared(contender: str, worker: Worker, request: dict[str, Any]) -> Result:
    if contender != OURS and (why := missing(contender)):
        return Result(missing=why)
    answer = worker.ask(dict(request), PREPARE_SECONDS)
    if "first_seconds" not in answer:
        return Result(missing=_why(answer))
    return Result(first_seconds=answer["first_seconds"], function=answer["function"])


def _checked(
    kernel: str, workers: dict[str, Worker], results: dict[str, Result], folder: Path
) -> tuple[dict[str, Result], float]:
    """(results, seconds of the slowest first call); who differs from the sequential text is not timed."""
    wanted, slowest = None, 0.0
    for name in (BASELINE, *[c for c in results if c != BASELINE]):
        if results[name].missing:
            continue
        file = folder / f"{name.replace(' ', '-')}.npz"
        answer = workers[name].ask({"do": "results", "file": str(file)}, TURN_SECONDS)
        if "forms" not in answer:
            results[name] = replace(results[name], missing=_why(answer))
            continue
        slowest = max(slowest, answer["seconds"])
        with np.load(file) as arrays:
            found = kernels.defined(kernel, [arrays[k] for k in arrays.files])
        wanted = found if wanted is None else wanted
        error = max(map(_difference, found, wanted))
        wrong = "" if error <= TOLERANCE else f"differs: error {error:.2g} of the largest value"
        results[name] = replace(results[name], difference=min(error, 1e300), missing=wrong)
    return results, slowest


def _difference(found: Any, wanted: Any) -> float:
    """Relative to the largest magnitude; infinite where only one is a number."""
    if found.dtype.kind != "f":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    if not np.array_equal(np.isfinite(found), np.isfinite(wanted)):
        return float("inf")
    finite = np.isfinite(wanted)
    scale = float(np.abs(wanted[finite]).max(initial=1e-30))
    return float(np.abs(found[finite] - wanted[finite]).max(initial=0.0)) / scale


def _timed(workers: dict[str, Worker], results: dict[str, Result], rounds: int, seconds: float) -> dict[str, Result]:
    taken: dict[str, list[tuple[list[float], int]]] = {c: [] for c, r in results.items() if not r.missing}
    for number in range(rounds):
        for name in list(taken)[:: 1 if number % 2 == 0 else -1]:
            answer = workers[name].ask({"do": "time", "seconds": seconds}, TURN_SECONDS)
            if "times" in answer:
                taken[name].append((answer["times"], answer["calls"]))
            else:
                results[name] = replace(results[name], missing=_why(answer))
    for name, turns in taken.items():
        if len(turns) == rounds:
            timing = Timing.of([t for t, _ in turns], sum(n for _, n in turns))
            results[name] = replace(results[name], preallocated=timing)
    return results


def _ratio(theirs: Result, ours: Result) -> dict[str, float]:
    """Their time over ours: the median of the ratios of the rounds."""
    a, b = theirs.preallocated, ours.preallocated
    return {FORM: median(x / y for x, y in zip(a.rounds, b.rounds, strict=True))} if a and b else {}


def _why(answer: dict[str, Any]) -> str:
    return answer.get("unavailable") or f"failed: {answer.get('failed', 'no answer')}"


if __name__ == "__main__":
    sys.exit(main())
