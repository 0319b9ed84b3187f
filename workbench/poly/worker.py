"""Scheduling problems as text, solved here or in a process that the clock can stop."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass

from workbench.errors import BudgetExceeded, WorkbenchError
from workbench.poly import isl

MEMORY = 4 << 30
"""Bytes of address space that a process may take to find a schedule."""

ROOM = 16 << 20
"""A process that cannot get so many bytes more has none left."""

NO_MEMORY = 3
"""What such a process exits with."""


@dataclass(frozen=True)
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


def solve_apart(problem: Problem, seconds: float, memory: int = MEMORY) -> str:
    """The same in a process of its own, ended (BudgetExceeded) after `seconds` or at `memory` bytes."""
    code = "from workbench.poly.worker import serve; serve()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps([memory, asdict(problem)]),
            capture_output=True,
            text=True,
            timeout=seconds,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BudgetExceeded(
            f"the scheduler was stopped after {seconds:g} s (fusion={problem.fusion!r}) without a schedule. "
            "Use fusion='none' or 'default', or allow more seconds."
        ) from None
    if done.returncode == NO_MEMORY:
        raise BudgetExceeded(
            f"the scheduler was stopped at {memory >> 20} MiB (fusion={problem.fusion!r}) without a schedule. "
            "Use fusion='none' or 'default'."
        )
    if done.returncode:
        raise WorkbenchError(f"the scheduler failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def serve() -> None:
    """Read a problem from standard input, write its schedule to standard output; end before the memory does."""
    memory, fields = json.load(sys.stdin)
    problem = Problem(**fields)
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        with isl.budget(0):
            answer = solve(problem)
    except (MemoryError, WorkbenchError):
        if _is_exhausted():
            sys.exit(NO_MEMORY)
        raise
    sys.stdout.write(answer)


def _is_exhausted() -> bool:
    """Whether memory is used up: isl then says what it could not do, not why."""
    try:
        return not bytearray(ROOM)
    except MemoryError:
        return True
