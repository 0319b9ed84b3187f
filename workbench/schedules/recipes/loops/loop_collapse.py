"""Loop collapse: dims that walk through memory as one (the rows and columns of a picture) become one long loop.

A pointwise convolution is then a product of matrices, and short rows cost no more than long ones.
"""

from __future__ import annotations

from math import prod

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.expr import Const, Expr, Index, Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.tree import path
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.recipes.staging import staged
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import decompose_reduction, transform_layout
from workbench.schedules.steps.order.decompose_reduction import enclosing_sequence


def run_along(shape: Structure, column: str, among: tuple[str, ...]) -> tuple[str, ...]:
    """The neighbouring dims, from the outside in, that end with `column` and that every access walks as one.

    Only dims that are `among` these count.
    """
    dims, touches = shape.statement.dims, (*shape.writes, *shape.reads)
    run = [column]
    for outer in reversed(dims[: dims.index(column)]):
        steps = [(t.along(outer), t.along(run[0])) for t in touches]
        trip = shape.trip(run[0])
        if outer not in among or trip is None or any(a is None or b is None or a != b * trip for a, b in steps):
            break
        run.insert(0, outer)
    return tuple(run)


def ends_in_run(shape: Structure, operand: Read, run: tuple[str, ...]) -> bool:
    """Whether the last subscripts of a read are the dims of a run, and each other one a dim of its own or 0."""
    dims = [_moved_by(shape, s) for s in operand.subscripts]
    others = dims[: -len(run)]
    return (*dims[-len(run) :],) == run and None not in others and not {*others}.intersection(run)


def thinned(schedule: Schedule, identifier: str) -> Schedule:
    """The operand of which only every other cell is read, copied without the others; unchanged if none is.

    before → after:  A(c, 2 * y, 2 * x)   →   A_local(c, y, x)

    ScheduleError if a step does not fit.
    """
    shape = structure(schedule.program, identifier)
    column = next((d for d in reversed(shape.free) if shape.writes[0].along(d) == 1), "")
    found = [r for r in reads_of(*shape.statement.values) if column in index_names(r)]
    factors = [_factor(shape, e) for e in found[0].subscripts] if len(found) == 1 else []
    loops = [x.name for x in path(schedule.tree, identifier)]
    if not any(f > 1 for f in factors) or 0 in factors or index_names(found[0]).isdisjoint({loops[0]}):
        return schedule
    return _copied(schedule, identifier, found[0], factors, loops[0])


def _copied(schedule: Schedule, identifier: str, operand: Read, factors: list[int], home: str) -> Schedule:
    name = schedule.program.statement(identifier).name
    if enclosing_sequence(schedule.tree, identifier):
        schedule = decompose_reduction(name).on(schedule)
    schedule, buffer = staged(schedule, operand.tensor, loop_of(name, home))
    names = [f"d{i}" for i in range(len(factors))]
    cells = [n if f == 1 else f"{n} / {f}" for n, f in zip(names, factors, strict=True)]
    return transform_layout(buffer, f"({', '.join(names)}) -> ({', '.join(cells)})").on(schedule)


def _moved_by(shape: Structure, subscript: Expr) -> str | None:
    """The dim that a subscript is, those of one iteration apart ("" if it is 0); None if it is anything else."""
    terms = [(m, f) for m, f in polynomial(subscript).terms if f and not (m and _stays(shape, m))]
    match terms:
        case []:
            return ""
        case [((Index(name),), 1)]:
            return name
    return None


def _factor(shape: Structure, subscript: Expr) -> int:
    """The step of a subscript that one dim moves (1 for a constant); 0 if several do, or data."""
    if any(reads_of(subscript)):
        return 0
    terms = [(m, f) for m, f in polynomial(subscript).terms if m and not _stays(shape, m)]
    if any(len(m) > 1 or f < 1 for m, f in terms) or len(terms) > 1:
        return 0
    return terms[0][1] if terms else 1


def _stays(shape: Structure, factors: tuple[Expr, ...]) -> bool:
    """Whether a product is constant: each of its dims has one value."""
    dims = {d for f in factors for d in index_names(f)}
    return prod(shape.trip(d) or 0 for d in dims) == 1 and all(not isinstance(f, Const) for f in factors)
