"""Accesses of warps for the front end: the costliest one of each, lane by lane."""

from __future__ import annotations

from typing import Any

from workbench.errors import WorkbenchError
from workbench.poly.grid import is_thread
from workbench.poly.tree import loops
from workbench.poly.warps import WarpAccess
from workbench.schedules import Schedule
from workbench.schedules.gpu_reports import bank_conflicts, coalescing
from workbench.viz.panels.assumed import with_sizes


def warps_payload(schedule: Schedule) -> dict[str, Any]:
    """Accesses to global memory in sectors and to shared memory in turns; `reason` where there are no threads."""
    if not any(is_thread(loop.kind) for loop in loops(schedule.tree)):
        return {"reason": "no loop is bound to threads: take bind(loop, 'thread.x') and bind(loop, 'block.x') first"}
    base, note = with_sizes(schedule)
    if base is None:
        return {"reason": note}
    try:
        found = [*coalescing(base).accesses, *bank_conflicts(base).accesses]
    except WorkbenchError as error:
        return {"reason": str(error)}
    return {"note": note, "accesses": [_access(a) for a in found]}


def _access(one: WarpAccess) -> dict[str, Any]:
    return {
        "statement": one.statement, "array": one.array, "kind": one.kind, "memory": one.memory, "text": one.text,
        "bytes": one.element_bytes, "requests": one.requests, "average": round(one.average, 2), "worst": one.worst,
        "efficiency": round(one.efficiency, 3), "complete": one.complete, "lanes": list(one.lanes),
    }  # fmt: skip
