"""`explain`: why a schedule is as fast as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import WorkbenchError, shown
from workbench.poly.programs.program import Program
from workbench.runtime.host.machine import this_machine
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.runtime.measuring.roofs import Ceilings
from workbench.schedules import Schedule
from workbench.schedules.scheduled_program import naive_schedule
from workbench.target import Target
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import Scene, Text, above, paragraph
from workbench.viz.draw.table_scene import table_scene
from workbench.viz.frames.coordinates import scheduled
from workbench.viz.views.performance.ablation_drawing import bars
from workbench.viz.views.performance.explanation_data import Asked, Explanation, explanation_of
from workbench.viz.views.performance.explanation_text import (
    explanation_text,
    loop_table,
    measured_headline,
    sentences,
    traffic_table,
)
from workbench.viz.views.performance.roofline_drawing import chart, key

WIDTH = 690.0
BARS = (
    "Each step was left out, with those that do not fit without it (+n); what stayed legal was built and timed in "
    "turns with the whole schedule. A line spans the rounds."
)


def explain(
    value: Any,
    /,
    target: Target | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    threads: int | None = None,
    seconds: float = 0.03,
    ablation: bool = True,
    ceilings: Ceilings | None = None,
) -> Picture:
    """Why a schedule, program or kernel is as fast as it is; it is built and run on this machine, with sample arrays.

    Its place below the roofline; the bytes that each cache moves, counted exactly; what is left of its time where all
    pages of its arrays are the same few, so that no access goes far from the core (on Linux); width, loads and spills
    of its innermost loops, read from the machine code; and the time without each of its steps.  `sizes` are those
    that it leaves open, `target` another ISA of this machine, `seconds` the length of a turn (five turns for the whole
    and for each step).  `ablation=False` leaves no step out, `ceilings` are taken instead of this machine's.  The
    values are in `.data`, an `Explanation`.

    Raises LoweringError while a size is open, BuildError without a C compiler, WorkbenchError for what is not built
    into C of this machine.
    """
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds < 60:
        raise WorkbenchError(f"explain: seconds={shown(seconds)} does not fit; expected a number of seconds up to 60")
    schedule = _schedule(value)
    machine = target or (value.kernel.target if isinstance(value, CompiledKernel) else this_machine())
    if machine.language.for_gpu:
        raise WorkbenchError(
            "explain reads the machine code of a processor; for a GPU see wb.occupancy and wb.coalescing"
        )
    asked = Asked(threads, seconds, ablation, ceilings)
    found = explanation_of(schedule, machine, dict(sizes or {}), asked)
    return Picture(explanation_text(found), explanation_scene(found), data=found)


def _schedule(value: Any) -> Schedule:
    of = scheduled(value)
    if isinstance(of, Program):
        return naive_schedule(of)
    if not isinstance(of, Schedule):
        raise WorkbenchError(f"explain takes a schedule, a program or a kernel of one, not {shown(value)}")
    return of


def explanation_scene(found: Explanation) -> Scene:
    """The headline, the roofline, the hot loops, the traffic, the bars."""
    parts = [_title(measured_headline(found)), paragraph(sentences(found), WIDTH)]
    if found.roofline is not None:
        parts += [chart(found.roofline), key(found.roofline)]
    if found.loops:
        parts.append(table_scene(loop_table(found)))
    parts.append(table_scene(traffic_table(found)))
    if found.removals:
        parts += [bars(found.removals), paragraph((BARS,), WIDTH)]
    return above(*parts, gap=16)


def _title(words: str) -> Scene:
    """What it is and how fast: in two lines where one would be wider than what stands below."""
    own, _, speed = words.partition(": ")
    wide = Text(0, 0, words, 13.5, bold=True).width > 0.8 * WIDTH
    lines = [Text(0, 14 + 18 * i, text, 13.5, bold=True) for i, text in enumerate([own, speed] if wide else [words])]
    return Scene(max(line.width for line in lines), 2 + 18 * len(lines), tuple(lines), words)
