"""Scheduling problems as text, solved here or in a process that the clock can stop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass

from workbench.errors import BudgetExceeded, WorkbenchError
from workbench.poly import isl


@dataclass(frozen=True)
class Problem:
    """What isl's scheduler needs, as isl text; `fusion` is "none", "default" or "max"."""

    domain: str
    validity: str
    coincidence: str
    proximity: str
    context: str
    fusion: str


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
        with isl.scheduler_options(serialize=serialize, whole=whole):
            return str(constraints.compute_schedule())
    except isl.Error:  # "unable to carry dependences": its care not to coalesce loops can leave nothing over
        with isl.scheduler_options(serialize=serialize, whole=whole, coalescing=False):
            return str(constraints.compute_schedule())


def solve_apart(problem: Problem, seconds: float) -> str:
    """The same in a process of its own, killed after `seconds` (BudgetExceeded)."""
    code = "from workbench.poly.worker import serve; serve()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(asdict(problem)),
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
    if done.returncode:
        raise WorkbenchError(f"the scheduler failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def serve() -> None:
    """Read a problem from standard input, write its schedule to standard output."""
    problem = Problem(**json.load(sys.stdin))
    with isl.budget(0):
        sys.stdout.write(solve(problem))
