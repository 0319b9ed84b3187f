"""One case, all contenders: results compared first, then timed in turns, several rounds."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import workbench as wb
from bench.contenders import FOREIGN, arguments_of, missing, operator_of
from bench.environments import interpreter
from bench.record import Comparison, Result, Timing
from bench.suite import Case
from bench.workers.foreign_worker import saved
from bench.workers.worker_pool import WORKER, Worker

FORMS = ("fresh", "preallocated")
PREPARE_SECONDS = 300.0
SEARCH_SECONDS = {"tvm": 1800.0}
"""How long contenders that search may prepare."""
TURN_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Effort:
    """`rounds` turns for each contender, each of about `seconds`."""

    rounds: int = 5
    seconds: float = 0.15


@contextmanager
def worker_pool(contenders: Sequence[str], threads: int, module: str = WORKER) -> Iterator[dict[str, Worker]]:
    """A process of `module` for each contender, and one that copies memory; they end with the block."""
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        places = {name: Path(folder) / name.replace("/", "-") for name in (*contenders, "copy")}
        workers = {name: contender_worker(name, threads, place, module) for name, place in places.items()}
        try:
            yield workers
        finally:
            for worker in workers.values():
                worker.close()


def contender_worker(contender: str, threads: int, place: Path, module: str = WORKER) -> Worker:
    """The process of a contender, in its own environment if it has one."""
    if contender not in FOREIGN:
        return Worker(contender, threads, place, module)
    return ForeignWorker(contender, threads, place, "bench.workers.foreign_worker", interpreter(contender) or "")


class ForeignWorker(Worker):
    """A worker without the workbench: it is given the arguments of a case in a file."""

    def ask(self, request: dict[str, Any], limit_seconds: float) -> dict[str, Any]:
        """See Worker."""
        if request["do"] == "prepare":
            self.folder.mkdir(parents=True, exist_ok=True)
            file = self.folder / "arguments.npz"
            saved(arguments_of(Case(**request["case"])), file)
            request = {**request, "arguments": str(file)}
        return super().ask(request, limit_seconds)


def compare(case: Case, workers: dict[str, Worker], effort: Effort) -> Comparison:
    """Every contender at one case.  The first contender is the one that the others are measured against."""
    names = [name for name in workers if name != "copy"]
    results = {name: _prepared(workers[name], case) for name in names}
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        results = _checked(workers, results, case, Path(folder))
    copy = _prepared(workers["copy"], case) if case.memory_bound and "copy" in workers else None
    timed = _timed(workers, {**results, **({"copy": copy} if copy else {})}, effort)
    copy = timed.pop("copy", None)
    op = operator_of(case)
    return Comparison(
        case.name,
        case.operator,
        dict(case.sizes),
        workers[names[0]].threads,
        case.memory_bound,
        wb.ops.flops(op, **case.sizes),
        wb.ops.bytes(op, **case.sizes),
        timed,
        copy,
        {name: _ratios(result, timed[names[0]]) for name, result in timed.items() if name != names[0]},
    )


def _prepared(worker: Worker, case: Case) -> Result:
    why = missing(worker.contender)
    if why:
        return Result(missing=why)
    patience = SEARCH_SECONDS.get(worker.contender, PREPARE_SECONDS)
    answer = worker.ask({"do": "prepare", "case": asdict(case)}, patience)
    if "first_seconds" not in answer:
        return Result(missing=_why(answer))
    return Result(first_seconds=answer["first_seconds"], function=answer["function"])


def _checked(workers: dict[str, Worker], results: dict[str, Result], case: Case, folder: Path) -> dict[str, Result]:
    """The results compared with those of the first contender that has one; who differs is not timed."""
    checked: dict[str, Result] = {}
    wanted: list[np.ndarray[Any, Any]] | None = None
    for number, (name, result) in enumerate(results.items()):
        checked[name] = result
        if result.missing:
            continue
        file = folder / f"{number}.npz"
        answer = workers[name].ask({"do": "results", "file": str(file)}, PREPARE_SECONDS)
        if "forms" not in answer:
            checked[name] = replace(result, missing=_why(answer))
            continue
        found = _loaded(file)
        wanted = wanted or found[: len(found) // answer["forms"]]
        error = max(_difference(a, wanted[n % len(wanted)]) for n, a in enumerate(found))
        wrong = "" if error <= case.tolerance else f"differs: error {error:.2g} of the largest value"
        checked[name] = replace(result, difference=min(error, 1e300), missing=wrong)
    return checked


def _loaded(file: Path) -> list[np.ndarray[Any, Any]]:
    with np.load(file) as arrays:
        loaded = [arrays[f"a{n}"] for n in range(len(arrays.files))]
    file.unlink()
    return loaded


def _difference(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    """The largest difference, relative to the largest magnitude; infinite for another shape or kind, or NaN."""
    if found.shape != wanted.shape or (found.dtype.kind == "f") != (wanted.dtype.kind == "f"):
        return float("inf")
    if found.dtype.kind != "f":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    scale = float(np.abs(wanted).max(initial=1e-30))
    error = float(np.abs(found - wanted).max(initial=0.0)) / scale
    return error if np.isfinite(error) else float("inf")


def _timed(workers: dict[str, Worker], results: dict[str, Result], effort: Effort) -> dict[str, Result]:
    """The contenders in turns: fresh results in all rounds, then preallocated ones."""
    for form in FORMS:
        taken: dict[str, list[tuple[list[float], int]]] = {name: [] for name, r in results.items() if not r.missing}
        for number in range(effort.rounds):
            order = list(taken) if number % 2 == 0 else list(taken)[::-1]
            for name in order:
                answer = workers[name].ask({"do": "time", "form": form, "seconds": effort.seconds}, TURN_SECONDS)
                if "times" in answer:
                    taken[name].append((answer["times"], answer["calls"]))
                elif "failed" in answer:
                    results = {**results, name: replace(results[name], missing=_why(answer))}
        for name, turns in taken.items():
            if len(turns) == effort.rounds:
                timing = Timing.of([times for times, _ in turns], sum(calls for _, calls in turns))
                results = {**results, name: replace(results[name], **{form: timing})}
    return results


def _ratios(theirs: Result, ours: Result) -> dict[str, float]:
    """Their time over ours, form by form; each round gives a ratio, the median of them counts."""
    ratios: dict[str, float] = {}
    for form in FORMS:
        a, b = getattr(theirs, form), getattr(ours, form)
        if a and b:
            ratios[form] = statistics.median(x / y for x, y in zip(a.rounds, b.rounds, strict=True))
    return ratios


def _why(answer: dict[str, Any]) -> str:
    return answer.get("unavailable") or f"failed: {answer.get('failed', 'no answer')}"
