"""Candidates for a GPU on a machine without one: compiled, and ranked by a model; the processor executes the best.

The model has what the compiler says (registers, spills, shared memory), occupancy, and counted accesses.  Nothing is
measured: no result of this runner has seconds.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench import poly
from workbench.codegen.kernel import Kernel
from workbench.errors import KernelError
from workbench.runtime.arrays.foreign import several
from workbench.runtime.arrays.layout import layout_of
from workbench.runtime.emulation import build_on_cpu
from workbench.tune.measuring.building import Built, Request, Seen
from workbench.tune.measuring.helpers import Helper
from workbench.tune.measuring.runner import Assignment, Result, memory_limit
from workbench.tune.measuring.timing import Load, Prepare, Wrong
from workbench.tune.measuring.workload import Workload, begun, workload
from workbench.tune.measuring.workshop import Workshop, refused, result_of

CHECKING = "workbench.tune.measuring.ranking_runner:answer"

MOST_EXECUTED = 1 << 24
"""Instances of statements that a processor executes as CUDA text in a few seconds."""

RIGHT = "estimated; executed by the processor, its results agree with the oracle"


class RankingRunner:
    """Compiles with `builders` processes (by default one a core), and estimates."""

    ranks = True

    def __init__(self, builders: int | None = None) -> None:
        self.count = builders
        self.shop: Workshop | None = None
        self.checker: Helper | None = None
        self.prepared: set[int] = set()

    def open(self, assignment: Assignment) -> None:
        """Start the processes.  A closed runner may be opened again."""
        self.prepared = set()
        self.assignment = assignment
        self.shop = Workshop(assignment, self.count, ranked=True)
        self.checker = Helper(CHECKING, memory=memory_limit(assignment.limits.memory_bytes))

    def measure(self, requests: Sequence[Request], best: float | None) -> Iterator[Result]:
        """Build and estimate all of them."""
        for built in self._shop.built(requests):
            yield refused(built) if built.outcome is not None else self._estimated(built, built.message)

    def looks(self, points: Sequence[Mapping[str, Any]]) -> list[Seen | None]:
        """What the schedules of points show, found by the builders; None for one that is no legal schedule."""
        return self._shop.looks(points)

    def foresee(self, points: Sequence[Mapping[str, Any]]) -> None:
        """Points whose looks will be asked for, which builders without work begin with."""
        self._shop.foresee(points)

    def again(self, requests: Sequence[Request], patience: float) -> Iterator[Result]:
        """Execute them by the processor and compare their results with the oracle's; nothing where that takes long."""
        if not self._small:
            return
        for built in sorted(self._shop.built(requests), key=lambda b: b.number):
            yield refused(built) if built.outcome is not None else self._checked(built, patience)

    def close(self) -> None:
        """End the processes, and remove what was built."""
        if self.shop is not None:
            self.shop.close()
        if self.checker is not None:
            self.checker.stop()
        if self.shop is not None:
            self.shop.clear()

    @property
    def _shop(self) -> Workshop:
        assert self.shop is not None
        return self.shop

    def _estimated(self, built: Built, message: str) -> Result:
        return replace(result_of(built, "estimated", message), estimate=built.estimate, began=time.time())

    def _checked(self, built: Built, patience: float) -> Result:
        """The estimate of a candidate, if its results are right or it could not be executed; else what is wrong."""
        assert built.signature is not None
        begun = time.perf_counter()
        limit = self.assignment.limits.run_seconds * max(1.0, patience)
        try:
            answer = self._checking(limit).ask(Load(built.library, built.signature, built.sizes or {}), limit)
        except Exception as how:  # whatever it is: the estimate stands
            self._shop.require_open()
            return self._estimated(built, f"estimated; not executed by the processor: {how}\n{built.message}")
        spent = time.perf_counter() - begun
        if isinstance(answer, Wrong):
            return replace(result_of(built, "wrong", answer.message), run_seconds=spent, began=time.time())
        return replace(self._estimated(built, f"{RIGHT}\n{built.message}"), run_seconds=spent)

    @property
    def _small(self) -> bool:
        """Whether the processor executes a call in a few seconds."""
        program = self.assignment.program
        return sum(poly.points(program, s.id) for s in program.statements) <= MOST_EXECUTED

    def _checking(self, seconds: float) -> Helper:
        """The process that executes, which knows what results are expected."""
        assert self.checker is not None
        self._shop.require_open()
        self.checker.start()
        if self.checker.pid not in self.prepared:
            file = self._shop.workload
            if not file.exists():
                workload(self.assignment.program, self.assignment.seed).save(file)
            self.checker.ask(Prepare(str(file), 1), seconds)
            self.prepared.add(self.checker.pid or 0)
        return self.checker


# -- A candidate's CUDA text executed by the processor, and compared with the oracle --

_workload: Workload | None = None


def answer(request: Prepare | Load) -> Wrong | None:
    """What the helper process does: what is wrong with a candidate, None if nothing is."""
    global _workload
    if isinstance(request, Prepare):
        _workload = Workload.load(Path(request.workload))
        return None
    assert _workload is not None
    kernel: Kernel = pickle.loads(Path(request.library).read_bytes())
    try:
        found = results(kernel, _workload)
    except KernelError as error:
        return Wrong(str(error))
    judged = _workload.expected.judged(found)
    return None if judged else Wrong(str(judged))


def results(kernel: Kernel, workload: Workload) -> tuple[Any, ...]:
    """What a call with the workload's arguments gives, executed by the processor."""
    run = build_on_cpu(kernel)
    slots = layout_of(kernel.signature, dict(kernel.sizes)).outputs
    given = [begun(workload.before[slot.parameter.name], slot) for slot in slots]
    out = None if all(array is None for array in given) else given if len(given) > 1 else given[0]
    return several(run(*(workload.inputs[p.name] for p in kernel.signature.inputs), out=out))
