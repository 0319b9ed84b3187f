"""Generated code for the front end: coloured lines, and for each line the statements and the loop it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from workbench.codegen import generate
from workbench.codegen.kernel import Kernel, Origin
from workbench.dialects import DIALECTS
from workbench.errors import WorkbenchError, unknown_name
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.tree import loops
from workbench.poly.threads.grid import on_grid, regions
from workbench.runtime import this_machine
from workbench.schedules import Schedule, bind
from workbench.schedules.transform import Transform
from workbench.target import Target
from workbench.viz.draw.palette import statement_numbers, statement_role
from workbench.viz.messages.drawn import Code, Repair
from workbench.viz.panels.code.assembly import c_assembly, cuda_ptx, cuda_sass, listing_of
from workbench.viz.panels.code.throughput import throughput
from workbench.viz.views.program.c_tokens import code_lines


class Owner(TypedDict):
    """What a line belongs to."""

    statements: list[str]
    loop: str


WRITTEN = {dialect.label: dialect.name for dialect in DIALECTS.values()}
MADE_FROM = {"assembly": "C", "llvm-mca": "C", "PTX": "CUDA", "SASS": "CUDA"}
LANGUAGES = (*WRITTEN, *MADE_FROM)
ON_GPU = ("CUDA", "HIP", "PTX", "SASS")
AXES = ("block.x", "thread.x")
MOST_BINDINGS = 6


def code_payload(
    schedule: Schedule, language: str = "C", target: Target | None = None, *, unsafe: bool = False,
    flags: tuple[str, ...] = (),
) -> Code:  # fmt: skip
    """The lines of the text in a language; `reason` says why there is none (`unsafe`: also where it is wrong).

    `target` is the machine that the text is written for, this one by default; `flags` are added to those with which
    assembly is made of it.
    """
    if language not in LANGUAGES:
        raise WorkbenchError(unknown_name("language", language, LANGUAGES))
    try:
        return _written(schedule, language, target or this_machine(), unsafe, flags)
    except WorkbenchError as error:
        none: Code = {"lines": [], "start": 0, "notes": [], "language": language, "reason": str(error)}
        return {**none, "instead": bindings(schedule)} if language in ON_GPU else none


def plain_lines(code: Code) -> list[str]:
    """The text of the function, line by line."""
    return ["".join(run[0] for run in line["runs"]) for line in code["lines"][code["start"] :]]


def _written(schedule: Schedule, language: str, target: Target, unsafe: bool, flags: tuple[str, ...]) -> Code:
    made_from = MADE_FROM.get(language, language)
    fits = target.dialect == WRITTEN[made_from]
    kernel = generate(schedule, target if fits else WRITTEN[made_from], unsafe=unsafe)
    text: Code = {**listing(kernel, schedule), "language": made_from}
    if language == made_from:
        return text
    if made_from == "C":
        made_by, rows = c_assembly(kernel, flags)
        if language == "llvm-mca":
            made_by, rows = throughput(rows, kernel.target)
    else:
        made_by, rows = {"PTX": cuda_ptx, "SASS": cuda_sass}[language](kernel)
    return listing_of(rows, text["lines"], language, made_by)


def listing(kernel: Kernel, schedule: Schedule) -> Code:
    """Lines of a kernel's text: runs of (text, colour role, bold), statements, name of the loop."""
    names = [loop.name for loop in loops(schedule.tree)]
    roles = {name: statement_role(i) for name, i in statement_numbers(schedule.program).items()}
    lines = code_lines(kernel.source, names, roles)
    start = kernel.start - bool(kernel.launches)  # what stands before the name of a kernel for a GPU belongs to it
    about = belonging(kernel, schedule)
    return {
        "lines": [
            {"number": line.number, "runs": [(r.text, r.role, r.bold) for r in line.runs], **owner}
            for line, owner in zip(lines, about, strict=True)
        ],
        "start": start,
        "notes": list(kernel.notes),
        "language": "C",
        "reason": "",
    }


def belonging(kernel: Kernel, schedule: Schedule) -> list[Owner]:
    """For each line the statements executed on it or inside its block, and the schedule's loop it begins."""
    names = {s.id: s.name for s in schedule.program.statements}
    known = {loop.name for loop in loops(schedule.tree)}
    before = [Origin()] * kernel.start
    return [
        {"statements": [names[s] for s in own.statements if s in names], "loop": own.loop if own.loop in known else ""}
        for own in (*before, *kernel.origins)
    ]


# -- Loops that could be bound where a schedule has no kernel yet, each as the step that binds it --


def bindings(schedule: Schedule) -> list[Repair]:
    """The legal ones around the first statement that is in no kernel, outermost loops first."""
    try:
        region = next((r for r in regions(on_grid(schedule.tree)) if r.loops and not r.bound), None)
    except WorkbenchError:
        return []
    if region is None:
        return []
    name = schedule.program.statement(region.statements[0]).name
    steps = [bind(loop_of(name, loop.name), axis) for loop in region.loops for axis in AXES]
    return [{"text": str(step), "step": step.to_json()} for step in _legal(schedule, steps)[:MOST_BINDINGS]]


def _legal(schedule: Schedule, steps: Sequence[Transform]) -> list[Transform]:
    return [step for step in steps if schedule.can(step)]
