"""What a view is of, at sizes that are numbers: for everything that counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench import ops, poly
from workbench.errors import LoweringError, WorkbenchError, unknown_name
from workbench.poly.programs.program import Program
from workbench.schedules import Schedule, Verdict
from workbench.schedules.replaying import taken
from workbench.schedules.scheduled_program import naive_schedule
from workbench.viz.frames.coordinates import Subject, subject

Sizes = Mapping[str, int]
ASSUMED = 256


def concrete(value: Program | Schedule | Verdict, sizes: Sizes | None = None) -> Subject:
    """The value with these sizes; a schedule takes its steps again.

    LoweringError when a size is still open, and says how to give it; WorkbenchError for one that does not exist.
    """
    found = subject(resized(value, sizes) if sizes else value)
    if found.program.symbols:
        open_sizes = ", ".join(f'"{s}": 64' for s in found.program.symbols)
        raise LoweringError(f"{found.program.name}: counting needs every size; give sizes={{{open_sizes}}}, or others")
    return found


def typical_sizes(program: Program) -> dict[str, int]:
    """What open sizes are taken to be: typical ones of an operator of the library, else 256."""
    definition = program.original.definition
    typical = next(iter(ops.examples(definition)), {}) if program.symbols and definition is not None else {}
    return {name: typical.get(name, ASSUMED) for name in program.symbols}


def resized(value: Program | Schedule | Verdict, sizes: Sizes) -> Program | Schedule:
    """A program or schedule for other sizes."""
    if isinstance(value, Verdict) or not isinstance(value, Program | Schedule):
        raise WorkbenchError("sizes can be changed of a Program or a Schedule; give one of these")
    program = value.original
    for name in sizes:
        if name not in (known := dict.fromkeys([*program.sizes, *program.symbols])):
            raise WorkbenchError(unknown_name("size", name, known))
    if program.definition is None:
        raise WorkbenchError(f"{program.name}: its sizes are part of it and cannot be changed")
    changed = poly.lower(program.definition, {**program.sizes, **sizes})
    if isinstance(value, Program):
        return changed
    return taken(naive_schedule(changed), [(step, step.apply) for step in value.trace], judged=False)


def scheduled(value: Any) -> Any:
    """The schedule behind a kernel; anything else as it is."""
    kernel = getattr(value, "kernel", value)
    found = getattr(kernel, "schedule", None)
    return found if isinstance(found, Schedule) else value
