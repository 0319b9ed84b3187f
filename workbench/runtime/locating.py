"""Where in the data an index is out of range: the oracle walks the same reads, slowly, and stops there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench import poly
from workbench.errors import CallError, KernelError, WorkbenchError

if TYPE_CHECKING:
    from workbench.runtime.preparing import Plan

# The oracle is asked only for programs it goes through in about a second.
INSTANCES = 2_000_000


def located(plan: Plan, arrays: tuple[Any, ...], out: Any, error: KernelError) -> KernelError:
    """The error of a kernel, with the place that the oracle finds for it."""
    from workbench.lang import evaluate  # the oracle is not needed where all goes well

    program = plan.schedule.program
    try:
        if sum(poly.points(program, s.id) for s in program.statements) > INSTANCES:
            return error
        evaluate(plan.op, *arrays, out=out)
    except CallError as found:
        return KernelError(f"{error}\n{found}")
    except WorkbenchError:
        return error
    return error
