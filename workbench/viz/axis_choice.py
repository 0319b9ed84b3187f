"""Which two dims tell most about a group of statements."""

from __future__ import annotations

from itertools import combinations

from workbench import poly
from workbench.lang.expr import index_names
from workbench.poly.program import Program, ProgramStatement


def default_axes(program: Program, group: tuple[str, ...], first: tuple[str, ...] = ()) -> tuple[str, str]:
    """(x, y) for a group of statements (ids); "" where there is no dim left.  The outer loop of the two is y.

    Looked at is the statement with the most dims, copies into buffers last.  Wanted are, in this order: dims in
    `first`; dims along which values move; dims that a triangular range or a subscript ties together; one dim that is
    reduced and one that is not; dims along which data is used again; loops next to each other; inner loops.
    """
    members = [program.statement(s) for s in group]
    most = max(members, key=lambda s: (not _is_copy(program, s), len(s.dims)))
    if len(most.dims) < 2:
        return (most.dims[0] if most.dims else ""), ""
    ties = _tied(program, most)
    moved, reduced, again = _moved(program, group), _reduced(program, group), _reused(most)

    def merit(pair: tuple[str, str]) -> tuple[int, ...]:
        outer, inner = (most.dims.index(d) for d in pair)
        return (
            sum(d in first for d in pair),
            sum(d in moved for d in pair),
            pair in ties,
            sum(d in reduced for d in pair) == 1,
            sum(d in again for d in pair),
            outer - inner,
            outer,
        )

    y, x = max(combinations(most.dims, 2), key=merit)
    return x, y


def _is_copy(program: Program, own: ProgramStatement) -> bool:
    """Whether a step made the statement and it only reads one array: a buffer is loaded or stored."""
    made = own.id not in {s.id for s in program.original.statements}
    return made and [a.kind for a in own.accesses].count("read") == 1


def _moved(program: Program, group: tuple[str, ...]) -> set[str]:
    """Dims along which a dependence of the group runs that is not a mere reduction."""
    own = [d for d in poly.dependences(program) if d.source in group and d.target in group and d.kind != "reduction"]
    return {dim for d in own for dim in poly.moving_dims(program, d)}


def _reduced(program: Program, group: tuple[str, ...]) -> set[str]:
    """Dims along which contributions to one cell are made."""
    own = [d for d in poly.dependences(program) if d.kind == "reduction" and {d.source, d.target} <= set(group)]
    return {dim for d in own for dim in poly.moving_dims(program, d)}


def _reused(statement: ProgramStatement) -> set[str]:
    """Dims that some access does not depend on."""
    named = [{n for e in a.subscripts for n in index_names(e)} for a in statement.accesses]
    return {d for d in statement.dims for names in named if d not in names}


def _tied(program: Program, statement: ProgramStatement) -> set[tuple[str, str]]:
    """Pairs of dims that stand together in a subscript, or one in the other's range."""
    together: list[set[str]] = []
    for own in program.definition.statements() if program.definition else ():
        if own.name == statement.name:
            together += [r.bounding | {r.index} for r in own.ranges]
    ranges = {pair for pair in combinations(statement.dims, 2) for names in together if set(pair) <= names}
    return ranges | windows(statement)


def windows(statement: ProgramStatement) -> set[tuple[str, str]]:
    """Pairs of dims that stand together in a subscript: one slides a window, the other runs inside it."""
    together = [index_names(e) for a in statement.accesses for e in a.subscripts]
    return {pair for pair in combinations(statement.dims, 2) for names in together if set(pair) <= names}
