"""Values that do not change in an innermost loop are computed before it, functions of them before further loops.

The C compiler would do the same, but may not: in the body of a parallel loop it no longer knows that the
arrays do not overlap, and a store to one might change the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    For,
    Hold,
    If,
    Nest,
    Prefetch,
    Write,
    children,
    map_expressions,
    rebuild,
    walk,
    writes,
)
from workbench.codegen.passes.register_tiles.accumulators import fresh
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, Select, Unary
from workbench.lang.expr import children as operands
from workbench.lang.expr import rebuild as rebuild_expr
from workbench.lang.expr import walk as walk_expr
from workbench.poly.programs.tree import at_once
from workbench.target import Target

CHEAP = frozenset((
    "abs", "ceil", "copysign", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "isinf", "isnan", "max", "min", "relu",
    "round", "select", "sign", "sqrt", "trunc", "whole",
))  # fmt: skip
"""Functions that are an instruction, or a few."""


def hoist_invariants(nest: Nest, target: Target) -> Nest:
    """Hold invariant values of every innermost loop in scalars."""
    return _visit(nest, "", frozenset(), set())


def _visit(nest: Nest, lane: str, kept: frozenset[Expr], used: set[str]) -> Nest:
    """`lane` is the variable of the vector loop around: what moves with it is no scalar.

    `kept` are the expressions by which registers know their cells: they must read the same inside the loop.
    """
    if isinstance(nest, For) and _innermost(nest):
        return hoisted(nest, lane, kept, used)
    if isinstance(nest, For) and nest.lanes > 1:
        lane = nest.variable
    if isinstance(nest, Accumulate):
        kept |= {n for local in nest.locals for s in local.cell.subscripts for n in walk_expr(s)}
    after = rebuild(nest, tuple(_visit(child, lane, kept, used) for child in children(nest)))
    return _outwards(after) if isinstance(after, For) else after


def _outwards(loop: For) -> Nest:
    """The loop inside those definitions in its body that call a function of what it does not change.

    A sigmoid of a gate for each row of a matrix costs more than the row.
    """
    if loop.kind != "serial" or loop.lanes > 1 or not isinstance(loop.body, Hold):
        return loop
    moving = {cell.array for w in writes(loop.body) for cell in w.cells}
    out: list[Hold] = []
    stay: list[Hold] = []
    body: Nest = loop.body
    while isinstance(body, Hold):
        fixed = _calls(body.value) and _fixed(body.value, {loop.variable}, moving | {hold.name for hold in stay})
        (out if fixed else stay).append(body)
        body = body.body
    return _guarded(loop, _inside(out, replace(loop, body=_inside(stay, body)))) if out else loop


def _inside(holds: list[Hold], body: Nest) -> Nest:
    for hold in reversed(holds):
        body = replace(hold, body=body)
    return body


def _calls(expr: Expr) -> bool:
    """Whether it calls a function that takes many operations."""
    return any(isinstance(n, Call) and n.function not in CHEAP for n in walk_expr(expr))


def _innermost(loop: For) -> bool:
    """A loop that is executed iteration by iteration around nothing but writes, unrolled loops and requests."""
    if loop.kind == "unroll" or at_once(loop.kind):
        return False
    inside = [node for node in walk(loop.body) if not isinstance(node, Write | Block | Prefetch)]
    return all(isinstance(node, For) and node.kind == "unroll" for node in inside)


def hoisted(loop: For, lane: str, kept: frozenset[Expr], used: set[str]) -> Nest:
    """The loop inside definitions of its invariant values; all of it under a guard if it may not run at all."""
    moving = {loop.variable, lane, *(n.variable for n in walk(loop.body) if isinstance(n, For))}
    moving |= {w.group.variable for w in writes(loop.body) if w.group is not None}
    written = {cell.array for w in writes(loop.body) for cell in w.cells}
    found: dict[Expr, Read] = {}
    for write in writes(loop.body):
        for expr in (*map(_unsigned, write.values), *(s for cell in write.cells for s in cell.subscripts)):
            for value in invariant(expr, moving, written):
                if value not in kept:
                    found.setdefault(value, Read(fresh(_name_of(value), used), (), value.dtype))
    if not found:
        return loop
    nest: Nest = map_inside(loop, found)
    for value, local in reversed(found.items()):
        nest = Hold(local.tensor, value, nest)
    return _guarded(loop, nest)


def _guarded(loop: For, nest: Nest) -> Nest:
    """What stands around a loop, under a guard where it may not run at all."""
    count = constant(Binary("-", loop.upper, loop.lower, loop.upper.dtype))
    return nest if count is not None and count > 0 else If(Binary("<", loop.lower, loop.upper, BOOL), nest)


def _unsigned(value: Expr) -> Expr:
    """What stands behind a sign: `d += -m` holds m, because that is a difference in any case."""
    return _unsigned(value.operand) if isinstance(value, Unary) and value.op == "-" else value


def invariant(expr: Expr, moving: set[str], written: set[str]) -> Iterator[Expr]:
    """Largest subexpressions that stay the same, are worth keeping, and are evaluated in any case."""
    if _fixed(expr, moving, written):
        if _worth(expr):
            yield expr
        return
    match expr:
        case Select(condition, _, _, _):
            yield from invariant(condition, moving, written)
        case Binary("&&" | "||", left, _, _):
            yield from invariant(left, moving, written)
        case _:
            for operand in operands(expr):
                yield from invariant(operand, moving, written)


def _fixed(expr: Expr, moving: set[str], written: set[str]) -> bool:
    """Whether nothing in the loop changes the value."""
    for node in walk_expr(expr):
        if isinstance(node, Index) and node.name in moving:
            return False
        if isinstance(node, Read) and node.tensor in written:
            return False
    return True


def _worth(expr: Expr) -> bool:
    """Whether it reads memory or calls a function."""
    return any(
        (isinstance(n, Read) and n.subscripts) or (isinstance(n, Call) and n.function not in ("min", "max", "whole"))
        for n in walk_expr(expr)
    ) and not isinstance(expr, Const)


def _name_of(expr: Expr) -> str:
    """A name that reminds of what is held, and that no tensor can bear."""
    return next((f"{n.tensor}.v" for n in walk_expr(expr) if isinstance(n, Read)), "held.v")


def map_inside(loop: For, found: dict[Expr, Read]) -> For:
    """The loop with the held values in place of what computes them."""
    return replace(loop, body=map_expressions(loop.body, lambda e: _replaced(e, found)))


def _replaced(expr: Expr, found: dict[Expr, Read]) -> Expr:
    if expr in found:
        return found[expr]
    parts = operands(expr)
    return rebuild_expr(expr, tuple(_replaced(p, found) for p in parts)) if parts else expr
