"""Races decided without running anything: what the schedule's legality says of the threads of a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.lang.algebra.folding import fold
from workbench.poly.programs.tree import path
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.barrier_order import divergent
from workbench.poly.time.concurrency import is_block
from workbench.runtime.emulation.findings import Finding, Kind, ThreadId
from workbench.schedules.legality import explain_violation, instance

if TYPE_CHECKING:
    from workbench.schedules import Schedule

METHOD = "happens-before"


def proof(schedule: Schedule) -> tuple[tuple[Finding, ...], str]:
    """(findings, what is proved): two instances that race, or a sentence that there are none."""
    verdict = schedule.verdict
    sizes = ", ".join(f"{k} = {v}" for k, v in schedule.program.sizes.items()) or "all sizes"
    if verdict:
        return (), f"no race between threads in the order of the schedule, for {sizes}, by happens-before"
    if not verdict.violations:
        return (_refused(schedule),), "nothing"
    return tuple(_found(schedule, violation) for violation in verdict.violations), "the races above"


def _refused(schedule: Schedule) -> Finding:
    """The verdict without two instances: a barrier that some threads do not reach, or values from elsewhere."""
    verdict, what = schedule.verdict, schedule.verdict.explain()
    missed = verdict.program is not None and verdict.tree is not None and divergent(verdict.program, verdict.tree)
    kind: Kind = "divergent barrier" if missed else "illegal schedule"
    return Finding(kind, schedule.program.name, 0, "", (None, None), 0, "", "", None, METHOD, what)


def _found(schedule: Schedule, violation: Any) -> Finding:
    verdict, dependence = schedule.verdict, violation.dependence
    program = verdict.program or schedule.program
    kind: Kind = "race" if violation.reason == "race" else "illegal schedule"
    what = explain_violation(program, violation)
    if dependence is None:
        return Finding(kind, program.name, 0, "", (None, None), 0, "", "", None, METHOD, what)
    source = _thread(verdict, dependence.source, violation.source, violation.sizes)
    target = _thread(verdict, dependence.target, violation.target, violation.sizes)
    name = program.statement(dependence.target).name
    if source and target:
        first = instance(program, dependence.source, violation.source)
        second = instance(program, dependence.target, violation.target)
        what += f"; {source} executes {first}, {target} executes {second}"
    return Finding(kind, name, 0, "", (target, source), 0, "", dependence.array, None, METHOD, what)


def _thread(verdict: Any, statement: str, point: dict[str, int], sizes: dict[str, int]) -> ThreadId | None:
    """The thread of an instance, as the bound loops number it; None if a number does not follow from the point."""
    found = {"block": [0, 0, 0], "thread": [0, 0, 0]}
    known = {**verdict.program.sizes, **sizes, **point}
    try:
        for loop in path(verdict.tree, statement):
            if is_block(loop.kind) or is_thread(loop.kind):
                group, _, axis = loop.kind.partition(".")
                found[group]["xyz".index(axis)] = fold(loop.row(statement), known)
    except (WorkbenchError, KeyError, ValueError):
        return None
    x, y, z = found["block"]
    i, j, k = found["thread"]
    return ThreadId((x, y, z), (i, j, k))
