"""Candidates on this machine: built by several processes at once, then, while none builds, timed one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from workbench.tune.measuring.builders import helpers
from workbench.tune.measuring.building import Built, Request, Seen
from workbench.tune.measuring.helpers import Died, Helper, TooLate
from workbench.tune.measuring.runner import Assignment, Result, memory_limit
from workbench.tune.measuring.timing import Crashed, Load, Prepare, Timed, Wrong
from workbench.tune.measuring.workload import workload
from workbench.tune.measuring.workshop import Workshop, builder_count, refused, result_of
from workbench.tune.trials import Outcome

RUNNER = "workbench.tune.measuring.timing:answer"

SLOWEST = 60
"""Calls as slow as the best one that a candidate may take time for, before it is given up."""

FIRST_PATIENCE = 4.0
"""A reference is timed so many times as long as others: all are measured by it."""

MOST_DRIFT = 3.0
"""What a machine gets slower or faster, as the reference shows; more is a mistake of the clock."""

PASSES = 3
"""Finalists are timed so often in turn: what disturbs the machine for a while disturbs one pass of some of them.  The
first pass checks their results once more.  One that no later pass can make the fastest is not timed in the last.
Each pass has a process and arrays of its own: where they lie decides which of their lines share a place in the caches.
"""

SLOW_REFERENCE = 4.0
"""A reference so many times slower than the best gives way to it: every timing waits for it."""


class LocalRunner:
    """Builds with `builders` processes (by default one a core) and times in another.

    A candidate that crashes, hangs or takes all memory ends its process and nothing else.
    """

    ranks = False
    timing = RUNNER
    bounded = True
    fresh_passes = True

    def __init__(self, builders: int | None = None) -> None:
        self.count = builders
        self.warmed: list[Helper] = []
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.shop: Workshop | None = None
        self.runner: Helper | None = None
        self.prepared: set[int] = set()
        self.reference: Built | None = None
        self.reference_seconds: float | None = None
        self.first_seconds: float | None = None
        self.overhead = 0.0
        self.known: dict[int, Built] = {}

    def warm(self, threads: int) -> None:
        """Start processes before it is known what they will build: they load while others find that out."""
        if not self.warmed and not self.is_open:
            self.warmed = helpers(self.count or builder_count(threads))

    def open(self, assignment: Assignment) -> None:
        """Start the processes, and begin to compute what results are expected.  A closed runner may be opened again."""
        self._begin_anew()
        self.assignment = assignment
        self.shop, self.warmed = Workshop(assignment, self.count, warm=self.warmed), []
        memory = memory_limit(assignment.limits.memory_bytes) if self.bounded else 0
        self.runner = Helper(self.timing, memory=memory)
        self.runner.spawn()
        shop, self.saving = self.shop, ThreadPoolExecutor(1)  # beside the processes that start, and the first builds
        self.saved = self.saving.submit(lambda: workload(assignment.program, assignment.seed).save(shop.workload))

    def measure(self, requests: Sequence[Request], best: float | None) -> Iterator[Result]:
        """Build all of them, then time those that could be built."""
        ready: list[Built] = []
        for built in self._shop.built(requests):
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
        return self._shop.looks(points)

    def foresee(self, points: Sequence[Mapping[str, Any]]) -> None:
        """Points whose looks will be asked for, which builders without work begin with."""
        self._shop.foresee(points)

    def again(self, requests: Sequence[Request], patience: float) -> Iterator[Result]:
        """Time once more, so many times as long; what this runner has not built yet is built before."""
        known = [replace(self.known[r.number], number=r.number) for r in requests if r.number in self.known]
        missing = [r for r in requests if r.number not in self.known]
        self.saved.result()
        listed = sorted([*known, *self._shop.built(missing)], key=lambda b: b.number)
        times: dict[int, list[Result]] = {b.number: [] for b in listed if b.outcome is None}
        usual = {r.number for r in requests if r.schedule is not None}  # what the others are compared with
        yield from (refused(b) for b in listed if b.outcome is not None)
        for turn, built in [(n, b) for n in range(PASSES) for b in listed]:
            if built is listed[0] and turn and self.fresh_passes and self.runner is not None:
                self.runner.stop()
            if built.number in times and not (turn == PASSES - 1 and built.number in _beaten(times, usual)):
                result = self._timed(built, None, patience / PASSES, right=turn > 0)
                times[built.number].append(result)
                if result.seconds is None:
                    yield times.pop(built.number)[-1]
        yield from (_median(own) for own in times.values())

    def close(self) -> None:
        """End the processes, and remove what was built."""
        for helper in self.warmed:
            helper.stop()
        self.warmed = []
        if self.shop is not None:
            self.shop.close()
        if self.runner is not None:
            self.runner.stop()
        if self.shop is not None:
            self.saving.shutdown()
            self.shop.clear()

    @property
    def is_open(self) -> bool:
        """Whether it may be asked."""
        return self.shop is not None and not self.shop.closed

    @property
    def _shop(self) -> Workshop:
        assert self.shop is not None
        return self.shop

    def _timed(self, built: Built, best: float | None, patience: float, *, right: bool = False) -> Result:
        """One candidate in the runner's process; the first one that is right becomes the reference."""
        begun, wall = time.perf_counter(), time.time()
        first = self.reference is None
        outcome, message, timed = self._run(
            built, best, FIRST_PATIENCE if first else patience, reference=first, right=right
        )
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
            result_of(built, "measured", ""), seconds=seconds, lower=lower, upper=upper, run_seconds=spent, began=wall,
            counts=timed.counts,
        )
        self._refer_to(built, result.seconds)
        return result

    def _refer_to(self, built: Built, seconds: float | None) -> None:
        """A much faster candidate becomes the reference, if it is that the second time, too."""
        if not (seconds and self.reference_seconds and seconds * SLOW_REFERENCE < self.reference_seconds):
            return
        outcome, _, timed = self._run(built, None, FIRST_PATIENCE, reference=True, right=True)
        if outcome == "measured" and timed is not None and timed.reference:
            again = self.reference_seconds * timed.seconds / timed.reference
            self.reference, self.reference_seconds = built, max(seconds, again)

    def _run(
        self, built: Built, best: float | None, patience: float, *, reference: bool = False, right: bool = False
    ) -> tuple[Outcome, str, Timed | None]:
        """(outcome, what was wrong, times)."""
        assert self.runner is not None
        assert built.signature is not None
        load = Load(built.library, built.signature, built.sizes or {}, best, patience, reference, right)
        try:
            self._ready()
            answer = self.runner.ask(load, self._patience(best, patience))
        except TooLate as how:
            self._shop.require_open()
            return "timed out", f"the process {how}", None
        except Died as how:
            self._shop.require_open()
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
        self._shop.require_open()
        self.runner.start()
        if self.runner.pid in self.prepared:
            return
        limits = self.assignment.limits
        prepare = Prepare(str(self._shop.workload), self.assignment.threads, limits.flush, limits.counters)
        self.runner.ask(prepare, limits.run_seconds)
        self.prepared.add(self.runner.pid or 0)
        if (known := self.reference) is not None and known.signature is not None:
            again = Load(known.library, known.signature, known.sizes or {}, reference=True, right=True)
            self.runner.ask(again, limits.run_seconds)

    def _patience(self, best: float | None, patience: float) -> float:
        """Seconds until a candidate is given up."""
        limit = self.assignment.limits.run_seconds * max(1.0, patience)
        if best is None:
            return limit
        return min(limit, 2.0 + 3 * self.overhead + SLOWEST * best)


def _beaten(times: Mapping[int, Sequence[Result]], usual: set[int]) -> set[int]:
    """The numbers of those whose every pass was slower than every pass of another: so will their median be, whatever
    one more pass says; without those that others are compared with.
    """
    passes = {number: [r.seconds or 0.0 for r in own] for number, own in times.items()}
    best = min(map(max, passes.values()))
    return {number for number, own in passes.items() if min(own) > best} - usual


def _median(passes: Sequence[Result]) -> Result:
    """The result of several passes: the middle one's seconds (of two the lower), and how far they are apart."""
    middle = sorted(passes, key=lambda r: r.seconds or 0.0)[(len(passes) - 1) // 2]
    lower, upper = min(r.lower or 0.0 for r in passes), max(r.upper or 0.0 for r in passes)
    return replace(middle, lower=lower, upper=upper, run_seconds=sum(r.run_seconds for r in passes))
