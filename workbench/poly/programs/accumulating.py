"""What a statement adds to its cell, whether or not the order of additions is free."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from workbench.lang.expr import Binary, Call, Expr, Read, Unary, reads
from workbench.poly.programs.program import Program, ProgramStatement


def added(program: Program, statement: ProgramStatement) -> tuple[str, Expr] | None:
    """(operator, contribution) of an update, and of an assignment `C = C + x` that was written in C; None for others.

    Assignments mean what they say, one operation after the other, so that nothing is re-associated by reading them so.
    (The operator language has updates for that.)

    >>> from workbench.fromc import from_c
    >>> program = from_c("void f(int n, double s[1], double A[n]) { for (int i = 0; i < n; i++) s[0] = s[0] - A[i]; }")
    >>> added(program, program.statements[0])[0]
    '+'
    """
    return contribution(statement) if statement.kind == "update" or written_in_c(program) else None


def written_in_c(program: Program) -> bool:
    """Whether the program was raised from C."""
    definition = program.original.definition
    return definition is not None and definition.language == "c"


@lru_cache(maxsize=4096)
def contribution(statement: ProgramStatement) -> tuple[str, Expr] | None:
    """The same whatever language it was written in."""
    if statement.kind == "update" and isinstance(statement.reduction, str):
        return statement.reduction, statement.values[0]
    if statement.kind != "assign" or len(statement.targets) != 1:
        return None
    (array, subscripts), value = statement.targets[0], statement.values[0]
    return taken_out(Read(array, subscripts, value.dtype), value)


def taken_out(cell: Read, value: Expr) -> tuple[str, Expr] | None:
    """(operator, x) of `cell + x`, `x + cell`, `cell - x`, a product, or the smaller or larger of two integers.

    None otherwise, and where x reads the cell.
    """
    match value:
        case Binary("+" | "*" as op, left, right, _) if left == cell:
            found = op, right
        case Binary("+" | "*" as op, left, right, _) if right == cell:
            found = op, left
        case Binary("-", left, right, dtype) if left == cell:
            found = "+", Unary("-", right, dtype)
        case Call("min" | "max" as op, (left, right), dtype) if cell in (left, right) and dtype.is_integral:
            found = op, right if left == cell else left
        case _:
            return None
    return None if cell in set(reads(found[1])) else found


def as_written(statement: ProgramStatement, cell: Expr, added_to_it: Expr) -> Expr:
    """The value of an assignment put together again from its cell and what `added` took out, whatever they are now."""
    (array, subscripts), value = statement.targets[0], statement.values[0]
    own = Read(array, subscripts, value.dtype)
    if isinstance(value, Call):
        first = value.arguments[0] == own
        return replace(value, arguments=(cell, added_to_it) if first else (added_to_it, cell))
    assert isinstance(value, Binary)
    if value.op == "-":
        match added_to_it:
            case Unary("-", taken, _):
                return replace(value, left=cell, right=taken)
        return replace(value, left=cell, right=Unary("-", added_to_it, value.dtype))
    if value.left == own:
        return replace(value, left=cell, right=added_to_it)
    return replace(value, left=added_to_it, right=cell)
