"""Candidates on this machine: built by several processes at once, then, while none builds, timed one by one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from workbench.tune.measuring.builders import Builders, Closed
from workbench.tune.measuring.building import Built, Request, Seen, Task
from workbench.tune.measuring.helpers import Died, Helper, TooLate
from workbench.tune.measuring.runner import Assignment, Result, memory_limit
from workbench.tune.measuring.timing import Crashed, Load, Prepare, Timed, Wrong
from workbench.tune.measuring.workload import workload
from workbench.tune.trials import Outcome

PREFIX = "tensor-workbench-study-"

RUNNER = "workbench.tune.measuring.timing:answer"

SLOWEST = 60
"""Calls as slow as the best one that a candidate may take time for, before it is given up."""

FIRST_PATIENCE = 4.0
"""A reference is timed so many times as long as others: all are measured by it."""

MOST_DRIFT = 3.0
"""What a machine gets slower or faster, as the reference shows; more is a mistake of the clock."""

SLOW_REFERENCE = 4.0
"""A reference so many times slower than the best gives way to it: every timing waits for it."""


class LocalRunner:
    """Builds with `builders` processes (by default one a core) and times in another.

    A candidate that crashes, hangs or takes all memory ends its process and nothing else.
    """

    ranks = False
    timing = RUNNER
    bounded = True

    def __init__(self, builders: int | None = None) -> None:
        self.count = builders
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.builders: Builders | None = None
        self.runner: Helper | None = None
        self.closed = False
        self.prepared: set[int] = set()
        self.reference: Built | None = None
        self.reference_seconds: float | None = None
        self.first_seconds: float | None = None
        self.overhead = 0.0
        self.folder: TemporaryDirectory[str] | None = None
        self.known: dict[int, Built] = {}

    def open(self, assignment: Assignment) -> None:
        """Start the processes, and begin to compute what results are expected.  A closed runner may be opened again."""
        self._begin_anew()
        self.assignment = assignment
        self.folder = folder_of_study()
        home = Path(self.folder.name)
        limits = assignment.limits
        task = Task(assignment.sketch, assignment.target, assignment.toolchain, str(home), assignment.kernels)
        self.builders = Builders(task, self.count or max(1, min(8, assignment.threads)), limits.build_seconds)
        self.runner = Helper(self.timing, memory=memory_limit(limits.memory_bytes) if self.bounded else 0)
        self.builders.start()
        self.runner.spawn()
        self.workload = home / "workload"
        self.saving = ThreadPoolExecutor(1)  # beside the processes that start, and the first builds
        self.saved = self.saving.submit(lambda: workload(assignment.program, assignment.seed).save(self.workload))

    def measure(self, requests: Sequence[Request], best: float | None) -> Iterator[Result]:
        """Build all of them, then time those that could be built."""
        ready: list[Built] = []
        for built in self._building.built(requests):
            if built.outcome is not None:
                yield refused(built)
            else:
                ready.append(built)
                self.known[max(0, built.number)] = built  # a study's default has number 0 when it is timed again
        self.saved.result()
        for built in sorted(ready, key=lambda b: b.number):
            result = self._timed(built, best, 1.0)
            if result.seconds is not None:
                best = min(best or result.seconds, result.seconds)
            yield result

    def looks(self, points: Sequence[Mapping[str, Any]]) -> list[Seen | None]:
        """What the schedules of points show, found by the builders; None for one that is no legal schedule."""
        return self._building.looks(points)

    def again(self, requests: Sequence[Request], patience: float) -> Iterator[Result]:
        """Time once more, so many times as long; what this runner has not built yet is built before."""
        known = [replace(self.known[r.number], number=r.number) for r in requests if r.number in self.known]
        missing = [r for r in requests if r.number not in self.known]
        self.saved.result()
        for built in sorted([*known, *self._building.built(missing)], key=lambda b: b.number):
            yield refused(built) if built.outcome is not None else self._timed(built, None, patience)

    def close(self) -> None:
        """End the processes, and remove what was built."""
        self.closed = True
        if self.builders is not None:
            self.builders.close()
        if self.runner is not None:
            self.runner.stop()
        if self.folder is not None:
            self.saving.shutdown()
            with suppress(OSError):
                self.folder.cleanup()

    @property
    def _building(self) -> Builders:
        assert self.builders is not None
        return self.builders

    def _timed(self, built: Built, best: float | None, patience: float) -> Result:
        """One candidate in the runner's process; the first one that is right becomes the reference."""
        begun, wall = time.perf_counter(), time.time()
        first = self.reference is None
        outcome, message, timed = self._run(built, best, FIRST_PATIENCE if first else patience, reference=first)
        spent = time.perf_counter() - begun
        if timed is None:
            return replace(result_of(built, outcome, message), run_seconds=spent, began=wall)
        scale = 1.0
        if first:
            self.reference, self.reference_seconds, self.first_seconds = built, timed.seconds, timed.seconds
            self.overhead = spent
        elif timed.reference and self.reference_seconds:
            scale = min(MOST_DRIFT, max(1 / MOST_DRIFT, self.reference_seconds / timed.reference))
        seconds, lower, upper = (value * scale for value in (timed.seconds, timed.lower, timed.upper))
        result = replace(
            result_of(built, "measured", ""), seconds=seconds, lower=lower, upper=upper, run_seconds=spent, began=wall
        )
        self._refer_to(built, result.seconds)
        return result

    def _refer_to(self, built: Built, seconds: float | None) -> None:
        """A much faster candidate becomes the reference, if it is that the second time, too."""
        if not (seconds and self.reference_seconds and seconds * SLOW_REFERENCE < self.reference_seconds):
            return
        outcome, _, timed = self._run(built, None, FIRST_PATIENCE, reference=True)
        if outcome == "measured" and timed is not None and timed.reference:
            again = self.reference_seconds * timed.seconds / timed.reference
            self.reference, self.reference_seconds = built, max(seconds, again)

    def _run(
        self, built: Built, best: float | None, patience: float, *, reference: bool = False
    ) -> tuple[Outcome, str, Timed | None]:
        """(outcome, what was wrong, times)."""
        assert self.runner is not None
        assert built.signature is not None
        load = Load(built.library, built.signature, built.sizes or {}, best, patience, reference)
        try:
            self._ready()
            answer = self.runner.ask(load, self._patience(best, patience))
        except TooLate as how:
            self._require_open()
            return "timed out", f"the process {how}", None
        except Died as how:
            self._require_open()
            return "crashed", f"the process that ran it {how}", None
        except MemoryError:
            return "crashed", "it took more memory than it may", None
        except Exception as error:  # a library that cannot be loaded, or a mistake of ours
            return "not built", f"{type(error).__name__}: {error}", None
        if isinstance(answer, Wrong):
            return "wrong", answer.message, None
        if isinstance(answer, Crashed):
            self.runner.stop()
            return "crashed", answer.message, None
        return "measured", "", answer

    def _ready(self) -> None:
        """A runner's process that knows the workload and the reference."""
        assert self.runner is not None
        self._require_open()
        self.runner.start()
        if self.runner.pid in self.prepared:
            return
        limits = self.assignment.limits
        prepare = Prepare(str(self.workload), self.assignment.threads, limits.flush)
        self.runner.ask(prepare, limits.run_seconds)
        self.prepared.add(self.runner.pid or 0)
        if (known := self.reference) is not None and known.signature is not None:
            again = Load(known.library, known.signature, known.sizes or {}, reference=True)
            self.runner.ask(again, limits.run_seconds)

    def _patience(self, best: float | None, patience: float) -> float:
        """Seconds until a candidate is given up."""
        limit = self.assignment.limits.run_seconds * max(1.0, patience)
        if best is None:
            return limit
        return min(limit, 2.0 + 3 * self.overhead + SLOWEST * best)

    def _require_open(self) -> None:
        if self.closed:
            raise Closed


def folder_of_study() -> TemporaryDirectory[str]:
    """A folder of this process, after those of processes that were killed are removed."""
    remove_left_behind()
    return TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-")


def remove_left_behind() -> None:
    """Folders of studies whose process was killed: nobody else removes them."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*-*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdigit() and not _runs(int(number)):
            rmtree(folder, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def refused(built: Built) -> Result:
    """The result of what could not be built."""
    assert built.outcome is not None
    return replace(result_of(built, built.outcome, built.message), began=time.time())


def result_of(built: Built, outcome: Outcome, message: str) -> Result:
    """What came of a candidate, with all that its builder found."""
    return Result(
        built.number, outcome, message, key=built.key, record=built.record, steps=built.steps,
        features=built.features, build_seconds=built.seconds,
    )  # fmt: skip
