"""Time, level by level: which loops two statements share, and relations between their instances there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.errors import ScheduleError
from workbench.lang.expr import Expr, Index, Size, transform
from workbench.poly import isl
from workbench.poly.affine import NotAffine, affine
from workbench.poly.names import to_isl
from workbench.poly.program import Program, ProgramStatement
from workbench.poly.simplify import simplify
from workbench.poly.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements


@dataclass(frozen=True, slots=True)
class Shared:
    """The loops around both of two statements, outermost first, and what comes after them.

    `position` is -1 when the source's branch of the innermost common Sequence stands first, +1 when it stands later, 0
    when the statements are one and the same.
    """

    loops: tuple[Loop, ...]
    position: int


def shared(tree: Tree, source: str, target: str) -> Shared:
    """What two statements (by id) have in common on the way from the root."""
    loops: tuple[Loop, ...] = ()
    while True:
        match tree:
            case Band(own, child):
                loops, tree = loops + own, child
            case Mark(_, _, child):
                tree = child
            case Leaf():
                return Shared(loops, 0)
            case Sequence(children):
                a, b = _branch(children, source), _branch(children, target)
                if a != b:
                    return Shared(loops, -1 if a < b else 1)
                tree = children[a]


def _branch(children: tuple[Tree, ...], statement: str) -> int:
    for position, child in enumerate(children):
        if statement in statements(child):
            return position
    raise ScheduleError(f"the schedule tree does not contain statement {statement}")


def row(loop: Loop, statement: ProgramStatement, program: Program) -> str:
    """isl text of a statement's time component at a loop; ScheduleError when it is missing or not affine."""
    try:
        return affine(row_expr(loop, statement, program))
    except KeyError as error:
        raise ScheduleError(f"loop {loop.name} has no row for statement {statement.name}") from error
    except NotAffine as error:
        raise ScheduleError(f"loop {loop.name}: the row of statement {statement.name} is not affine") from error


def row_expr(loop: Loop, statement: ProgramStatement, program: Program) -> Expr:
    """The time component in normal form, over the statement's dims and the program's symbols."""
    expr = loop.row(statement.id)
    return simplify(_bind(expr, program)) if program.sizes else simplify(expr)


def _bind(expr: Expr, program: Program) -> Expr:
    from_sizes = program.sizes

    def change(node: Expr) -> Expr:
        if isinstance(node, Size) and node.name in from_sizes:
            return simplify_constant(from_sizes[node.name])
        return node

    return transform(expr, change)
