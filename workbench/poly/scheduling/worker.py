"""Scheduling problems as text, solved in a process that the clock and the memory can end.

isl counts its operations, but some of them take minutes, and then it does not look at the clock.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import selectors
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict

from workbench.errors import BudgetExceeded, WorkbenchError
from workbench.poly.sets import isl
from workbench.records import record

MEMORY = 4 << 30
"""Bytes of address space that the process may take."""

ROOM = 16 << 20
"""A process that cannot get so many bytes more has none left."""

NO_MEMORY = 3
"""What such a process exits with."""

PATIENCE = 60.0
"""Seconds for the process to start."""


@record
class Problem:
    """What isl's scheduler needs, as isl text; `fusion` is "none", "default" or "max".

    Taking care not to coalesce loops of constant length can lead isl to long numbers, or to nothing.
    """

    domain: str
    validity: str
    coincidence: str
    proximity: str
    context: str
    fusion: str
    careful: bool = True


@isl.guarded
def solve(problem: Problem) -> str:
    """isl's schedule for the problem, as text."""
    constraints = (
        isl.ScheduleConstraints.on_domain(isl.parse_union_set(problem.domain))
        .set_validity(isl.parse_union_map(problem.validity))
        .set_coincidence(isl.parse_union_map(problem.coincidence))
        .set_proximity(isl.parse_union_map(problem.proximity))
        .set_context(isl.parse_set(problem.context))
    )
    serialize, whole = problem.fusion == "none", problem.fusion == "max"
    try:
        with isl.scheduler_options(serialize=serialize, whole=whole, coalescing=problem.careful):
            return str(constraints.compute_schedule())
    except isl.Error:  # "unable to carry dependences"
        with isl.scheduler_options(serialize=serialize, whole=whole, coalescing=False):
            return str(constraints.compute_schedule())


class Worker:
    """A process that solves one problem after another, as long as it lives."""

    def __init__(self, memory: int = MEMORY) -> None:
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        """Start anew: after a fork the process answers to the parent."""
        self.lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None

    def solve(self, problem: Problem, seconds: float) -> str:
        """isl's schedule; BudgetExceeded after `seconds`, or if memory runs out; WorkbenchError if isl finds none."""
        with self.lock:
            process = self._started()
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(asdict(problem)) + "\n")
                process.stdin.flush()
                line = _line(process, seconds)
            except BrokenPipeError:
                line = ""
            if not line:
                self._ended(problem, seconds)
        answer = json.loads(line)
        if "refused" in answer:
            raise WorkbenchError(answer["refused"])
        return str(answer["schedule"])

    def _started(self) -> subprocess.Popen[str]:
        if self.process is None or self.process.poll() is not None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
            code = f"from workbench.poly.scheduling.worker import serve; serve({self.memory})"
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                [sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True,
                env=environment,
            )  # fmt: skip
            if not _line(self.process, PATIENCE):
                self.stop()
                raise WorkbenchError("the process for isl's scheduler does not start")
        return self.process

    def _ended(self, problem: Problem, seconds: float) -> None:
        assert self.process is not None
        limit = f"after {seconds:g} s" if self.process.poll() is None else f"at {self.memory >> 20} MiB"
        self.stop()
        raise BudgetExceeded(f"the scheduler was stopped {limit} (fusion={problem.fusion!r}) without a schedule")

    def stop(self) -> None:
        """End the process; the next problem starts another."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


WORKER = Worker()
atexit.register(WORKER.stop)
os.register_at_fork(after_in_child=WORKER.forget)


def _line(process: subprocess.Popen[str], seconds: float) -> str:
    """The next line of what a process says; empty if it says nothing in time, or ends."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(seconds):
            return ""
    line = process.stdout.readline()
    if not line:
        process.wait()
    return line


def serve(memory: int) -> None:
    """Read problems from standard input, a line each; write their schedules to standard output."""
    _say({"ready": True})
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for line in sys.stdin:
        problem = Problem(**json.loads(line))
        try:
            with isl.budget(0):
                answer = {"schedule": solve(problem)}
        except (MemoryError, WorkbenchError) as error:
            if _is_exhausted():
                sys.exit(NO_MEMORY)
            answer = {"refused": str(error)}
        _say(answer)


def _say(answer: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _is_exhausted() -> bool:
    """Whether memory is used up: isl then says what it could not do, not why."""
    try:
        return not bytearray(ROOM)
    except MemoryError:
        return True
