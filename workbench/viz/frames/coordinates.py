"""What a picture is of, also at sizes that are numbers, and where an instance stands in it.

That is by the values of its dims, or of a schedule's loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench import ops, poly
from workbench.errors import LoweringError, WorkbenchError, unknown_name
from workbench.lang.algebra.folding import fold
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, loops, path, statements
from workbench.records import record
from workbench.schedules import Schedule, Verdict
from workbench.schedules.replaying import taken
from workbench.schedules.scheduled_program import naive_schedule

Point = tuple[int, ...]
Coordinate = Callable[[Point], int]


@record
class Subject:
    """A program and the order its instances run in; `scheduled` when that order is a schedule's."""

    program: Program
    tree: Tree
    scheduled: bool


def subject(value: Program | Schedule | Verdict) -> Subject:
    """Unfold what a view was given; WorkbenchError for anything else."""
    match value:
        case Program():
            return Subject(value, poly.naive_tree(value), scheduled=False)
        case Schedule(program, tree):
            return Subject(program, tree, scheduled=True)
        case Verdict(program=Program() as program, tree=tree) if tree is not None:
            return Subject(program, tree, scheduled=True)
    kind = type(value).__name__
    raise WorkbenchError(f"expected a Program, a Schedule or a Verdict, not {kind}; wb.lower(op) gives a Program")


def known_axis(of: Subject, name: str) -> str:
    """The name itself; WorkbenchError that lists the dims, and the loops of a schedule, if it is none of them.

    `"A/i"` is the loop around a statement where `i` alone is its dim: after a skew the two differ.
    """
    dims = [d for s in of.program.statements for d in s.dims]
    own = [loop.name for loop in loops(of.tree)] if of.scheduled else []
    nests = of.program.statements if of.scheduled else ()
    around = [loop_of(s.name, x.name) for s in nests for x in path(of.tree, s.id)]
    if name not in around and name not in (known := dict.fromkeys([*dims, *own])):
        raise WorkbenchError(unknown_name("axis", name, known))
    return name


def axis_place(
    of: Subject, statement: ProgramStatement, dims: tuple[str, ...], axis: str, sizes: Mapping[str, int]
) -> Coordinate | None:
    """The function from an instance to its place on an axis; None when the statement has no such dim or loop.

    Instances are points over `dims`: all of the statement's when the axis is a loop.
    """
    if axis in dims:
        position = dims.index(axis)
        return lambda point: point[position]
    loop = axis_loop(of.tree, statement, axis)
    return None if loop is None else component(of.program, loop, statement, sizes)


def axis_loop(tree: Tree, statement: ProgramStatement, axis: str) -> Loop | None:
    """The loop around a statement that an axis (`i` or `A/i`) stands for."""
    wanted = LoopName(axis)
    around = path(tree, statement.id) if wanted.statement in ("", statement.name) else ()
    return next((loop for loop in around if loop.name == wanted.loop), None)


def component(program: Program, loop: Loop, statement: ProgramStatement, sizes: Mapping[str, int]) -> Coordinate:
    """The function from an instance to its time at a loop."""
    row, known = loop.row(statement.id), {**program.sizes, **sizes}
    return lambda point: fold(row, {**known, **dict(zip(statement.dims, point, strict=True))})


def groups(tree: Tree) -> tuple[tuple[str, ...], ...]:
    """Statements that share an outermost loop, by id, in order of execution."""
    match tree:
        case Mark(_, child) | Band((), child):
            return groups(child)
        case Sequence(children):
            return tuple(g for child in children for g in groups(child))
        case Band() | Leaf():
            return (statements(tree),)


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
