"""Rows for the tables of a program: its arrays and statements, as one writes them on a board."""

from __future__ import annotations

from workbench.lang.algebra.folding import fold
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Const, Expr, Index, Read, Size, Unary, transform, walk
from workbench.lang.operator import Monoid, Tensor
from workbench.lang.printing.printer import show, type_name
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.sets.names import user_text

Row = tuple[str, ...]


def size_lines(program: Program) -> list[str]:
    """What is bound, what is symbolic, and what is known of it."""
    lines = []
    if program.sizes:
        lines.append("for " + ", ".join(f"{name} = {value}" for name, value in program.sizes.items()))
    if program.symbols:
        lines.append(f"symbolic {', '.join(program.symbols)}")
    known = program.context.rpartition(":")[2].strip(" }") if ":" in program.context else ""
    return [*lines, f"where {user_text(known)}"] if known else lines


def array_rows(program: Program) -> list[Row]:
    """Name, role, element type, shape (and where it starts) of each array."""
    return [(a.name, a.role, type_name(a.dtype), shape_text(a)) for a in program.arrays.values()]


def shape_text(array: Array | Tensor) -> str:
    """`M × (H + 2)`; a box that does not start at 0 says where; a scalar says so."""
    if not array.extent:
        return "scalar"
    shape = " × ".join(_factor(e) for e in array.extent)
    lower = [show(e) for e in array.lower]
    return shape if set(lower) <= {"0"} else f"{shape}, from ({', '.join(lower)})"


def _factor(expr: Expr) -> str:
    return f"({show(expr)})" if isinstance(expr, Binary) else show(expr)


def statement_rows(program: Program) -> list[Row]:
    """Name with dims, what an instance does, and the conditions of its domain."""
    return [(f"{s.name}({', '.join(s.dims)})", statement_line(s), _domain_text(s)) for s in program.statements]


def _domain_text(statement: ProgramStatement) -> str:
    """The conditions on the dims, in isl's words (`0 <= m < M and 0 <= n < N`); empty when there are none."""
    _, found, conditions = statement.domain.partition(":")
    return user_text(conditions.rpartition("}")[0].strip()) if found else ""


def statement_line(statement: ProgramStatement) -> str:
    """What one instance does, as text: `C(m, n) += A(m, k) * B(k, n)`."""
    cells = [(array, map(_tidy, subscripts)) for array, subscripts in statement.targets]
    targets = [show(Read(array, tuple(subscripts), INT32)) for array, subscripts in cells]
    values = [show(transform(v, _tidy_node)) for v in statement.values]
    sign = "="
    if statement.kind == "update":
        reduction = statement.reduction
        sign = f"{reduction.name}=" if isinstance(reduction, Monoid) else f"{reduction}="
    if len(targets) == 1:
        return f"{targets[0]} {sign} {values[0]}"
    return f"({', '.join(targets)}) {sign} ({', '.join(values)})"


def _tidy(subscript: Expr) -> Expr:
    """A subscript in normal form, where it is plain arithmetic on indices (`1 * y + 1 * kh` is `y + kh`)."""
    plain = all(isinstance(n, Index | Size | Const | Binary | Unary) for n in walk(subscript))
    return simplify(subscript) if plain else subscript


def _tidy_node(node: Expr) -> Expr:
    """Subscripts in normal form, and sums of sizes that are known as one number (`y < 56 + 1` is `y < 57`)."""
    match node:
        case Read(tensor, subscripts, dtype):
            return Read(tensor, tuple(map(_tidy, subscripts)), dtype)
        case Binary("+" | "-" | "*", Const(int()), Const(int()), dtype) if not dtype.is_float:
            return Const(fold(node, {}), dtype)
    return node
