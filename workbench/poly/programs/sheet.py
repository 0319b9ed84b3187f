"""A program as a readable sheet: arrays, instances, accesses, order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.expr import Expr
from workbench.lang.operator import Monoid
from workbench.lang.printing.printer import show
from workbench.poly.programs.tree import Band, Leaf, Mark, Sequence, Tree
from workbench.poly.sets.names import user_text
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.poly.programs.program import Access, Array, Nest, Program, ProgramStatement

WHOLE = "=! "
"""What says in an operator's text that a reduction begins at its neutral value."""


def program_sheet(program: Program) -> str:
    """The whole program, about one line a fact (what `str(program)` gives)."""
    return "\n".join(_lines(program))


def _lines(program: Program) -> Iterator[str]:
    given = [f"{n}={v}" for n, v in program.sizes.items()]
    yield f"program {program.name}({', '.join([*given, *program.symbols])})"
    if program.symbols:
        yield f"  for all {_constraints(program.context)}"
    yield "arrays"
    width = max((len(_array(a)) for a in program.arrays.values()), default=0)
    for array in program.arrays.values():
        yield f"  {_array(array):{width}}  {_role(array)}{', partly written' if array.partial else ''}"
    yield "statements"
    for statement in program.statements:
        yield from _statement(statement)
    yield "order"
    if program.reference is not None:
        yield from _tree(program, program.reference, 1)
        return
    for item in program.order:
        yield from _order(program, item, 1)


def _role(array: Array) -> str:
    if array.scope == "global":
        return array.role
    return f"local, one for each iteration of {number_of(array.times, 'loop')}" if array.times else "local"


def _array(array: Array) -> str:
    own = list(zip(array.lower, array.extent, strict=True))[array.times :]
    ranges = [_range(low, extent) for low, extent in own]
    box = f"({', '.join(ranges)})" if ranges else ""
    return f"{array.dtype} {array.name}{box}"


def _range(lower: Expr, extent: Expr) -> str:
    """An extent, or `lower:upper` of a box that starts elsewhere than at 0."""
    if show(lower) == "0":
        return show(extent)
    return f"{show(lower)}:{show(bound(polynomial(lower) + polynomial(extent)))}"


def _statement(statement: ProgramStatement) -> Iterator[str]:
    yield f"  {statement.id} {statement.name}: {body_text(statement)}"
    such = _constraints(statement.domain)
    if statement.dims:
        yield f"     [{', '.join(statement.dims)}]{f' : {such}' if such else ''}"
    for access in statement.accesses:
        if not access.accumulates:
            yield f"     {access.kind}s {_access(access)}"


def own_text(statement: ProgramStatement) -> str:
    """What a statement is in the operator's words, but of a reduction its own part: the initial value, or the update.

    `C.init` of `C(m, n) +=! A(m, k) * B(k, n)` is `C(m, n) = 0.0`, `C` itself `C(m, n) += A(m, k) * B(k, n)`.
    """
    if statement.kind == "initialise" and WHOLE in statement.text:
        cell = statement.text.partition(WHOLE)[0].rpartition(" ")[0]
        own = set(re.findall(r"\b[A-Za-z_]\w*\b(?!\()", cell)) <= set(statement.dims)
        body = body_text(statement)
        return f"{cell} = {body.partition(' = ')[2]}" if own else body
    return statement.text.replace(WHOLE, "= ", 1) if statement.kind == "update" else statement.text


def body_text(statement: ProgramStatement) -> str:
    """What one instance does to its cells: `C(m, n) += A(m, k) * B(k, n)`."""
    targets = ", ".join(_cell(t, subscripts) for t, subscripts in statement.targets)
    values = ", ".join(show(v) for v in statement.values)
    match statement.reduction:
        case Monoid(name=name) if statement.kind == "update":
            return f"({targets}) {name}= ({values})"
        case str(op) if statement.kind == "update":
            return f"{targets} {op}= {values}"
    return f"{targets} = {values}" if len(statement.targets) == 1 else f"({targets}) = ({values})"


def _cell(name: str, subscripts: tuple[Expr, ...]) -> str:
    return f"{name}({', '.join(map(show, subscripts))})" if subscripts else name


def _access(access: Access) -> str:
    cell = _cell(access.array, access.subscripts)
    if access.exact:
        return cell
    return f"{cell}  (where data allow)" if access.guarded else f"{cell}  (any cell: not affine)"


def _constraints(text: str) -> str:
    """What stands after the colon of isl text."""
    return user_text(text.partition(" : ")[2].removesuffix(" }")) if " : " in text else ""


def _order(program: Program, item: Nest | str, depth: int) -> Iterator[str]:
    if isinstance(item, str):
        yield "  " * depth + program.statement(item).name
        return
    dims = [item.dim]
    while len(item.body) == 1 and not isinstance(only := item.body[0], str):
        item = only
        dims.append(item.dim)
    yield "  " * depth + f"for {', '.join(dims)}"
    for inner in item.body:
        yield from _order(program, inner, depth + 1)


def _tree(program: Program, tree: Tree, depth: int) -> Iterator[str]:
    match tree:
        case Leaf(statement):
            yield "  " * depth + program.statement(statement).name
        case Band(loops, child):
            yield "  " * depth + f"for {', '.join(loop.name for loop in loops)}"
            yield from _tree(program, child, depth + 1)
        case Mark(_, child):
            yield from _tree(program, child, depth)
        case Sequence(children):
            for child in children:
                yield from _tree(program, child, depth)
