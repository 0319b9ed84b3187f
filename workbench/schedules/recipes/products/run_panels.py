"""Panels of a run: of what a product reads along dims that are one in memory, the pixels of a picture.

Rows of a picture are shorter than a tile is wide and its channels far apart: unpacked, each term of the reduction is
read from lines, and often from a page, of its own.
"""

from __future__ import annotations

from math import prod

from workbench.lang.expr import Read
from workbench.poly.programs.loop_names import LoopName
from workbench.schedules import steps  # by which few products go: loaded with the first
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.products.panels import copying, meant, once_before, panel_by_panel, shared
from workbench.schedules.recipes.staging import staged
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import transform_layout
from workbench.target import Target


def with_run_panels(
    schedule: Schedule, identifier: str, operand: Read, cut: tuple[tuple[str, ...], int], home: LoopName | None,
    target: Target | None,
) -> Schedule:  # fmt: skip
    """The operand copied where an iteration of the loop `home` begins, or once before everything else, in panels.

    before → after:  I(c, y, x)   →   I_local((14 * y + x) / 16, c, (14 * y + x) % 16)      cut = (("y", "x"), 16)

    The threads of a `target` share the copy where it is long.
    """
    run, size = cut
    shape, name = structure(schedule.program, identifier), schedule.program.statement(identifier).name
    trips = [shape.trip(d) or 1 for d in run]
    schedule, home = (schedule, home) if home else once_before(schedule, name)
    schedule, buffer = staged(schedule, meant(schedule, operand, home), home)
    schedule = transform_layout(buffer, _layout(schedule, buffer, trips, size)).on(schedule)
    own = copying(schedule, buffer)
    schedule = steps.fuse(*own[-len(run) :]).on(schedule)
    schedule = panel_by_panel(schedule, buffer, len(own) - len(run), size, lanes=True)
    array = schedule.program.arrays[buffer]
    return shared(schedule, buffer, target, size=array.dtype.bytes) if target is not None else schedule


def _layout(schedule: Schedule, buffer: str, trips: list[int], size: int) -> str:
    """Panels before everything but the dims of batches, of which a copy has one iteration each."""
    array = schedule.program.arrays[buffer]
    names = [f"d{n}" for n in range(len(array.extent) - array.times)]
    others, run = names[: -len(trips)], names[-len(trips) :]
    strides = [prod(trips[n + 1 :]) for n in range(len(trips))]
    along = " + ".join(f"{step} * {d}" if step > 1 else d for step, d in zip(strides, run, strict=True))
    return f"({', '.join(names)}) -> (({along}) / {size}, {', '.join(others)}, ({along}) % {size})"
