"""Loop code of the program becomes a nest: each visit is the statement with loop variables in place of its dims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench import poly
from workbench.codegen.nest.nest import Block, Cell, Define, For, If, Nest, Write, transform
from workbench.lang.algebra.normal_form import is_index_arithmetic, simplify
from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Read,
    Select,
    Size,
    children,
    reads,
    rebuild,
)
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.time.loops import Block as CodeBlock
from workbench.poly.time.loops import Code, ForLoop, Let, Visit
from workbench.poly.time.loops import If as CodeIf


def nest_of(program: Program, code: Code) -> Nest:
    """The nest that executes `code`."""
    match code:
        case CodeBlock(body):
            return Block(tuple(nest_of(program, part) for part in body))
        case ForLoop(variable, loop, lower, upper, step, kind, body):
            return For(variable, loop, simplify(lower), simplify(upper), nest_of(program, body), step, kind)
        case CodeIf(condition, then, otherwise):
            other = None if otherwise is None else nest_of(program, otherwise)
            return If(_address(condition, {}), nest_of(program, then), other)
        case Let(variable, loop, value, body):
            return Define(variable, simplify(value), nest_of(program, body), loop)
        case Visit(statement, arguments):
            return visit(program, program.statement(statement), arguments)


def with_atomic_updates(nest: Nest, ids: frozenset[str]) -> Nest:
    """The nest with the updates of some statements atomic."""

    def change(node: Nest) -> Nest:
        if isinstance(node, Write) and node.statement in ids and node.reduction is not None:
            return replace(node, atomic=True)
        return node

    return transform(nest, change) if ids else nest


def mark_nontemporal_stores(nest: Nest, ids: frozenset[str]) -> Nest:
    """The nest with the writes of some statements past the caches."""

    def change(node: Nest) -> Nest:
        return replace(node, nontemporal=True) if isinstance(node, Write) and node.statement in ids else node

    return transform(nest, change) if ids else nest


def mark_disjoint_writes(nest: Nest, loops: Mapping[str, frozenset[str]]) -> Nest:
    """The nest with the loops in which updates read no cell that they write (`regions.apart`)."""

    def change(node: Nest) -> Nest:
        if isinstance(node, Write) and node.statement in loops:
            return replace(node, apart=loops[node.statement])
        return node

    return transform(nest, change) if loops else nest


def visit(program: Program, statement: ProgramStatement, arguments: tuple[Expr, ...]) -> Write:
    """One instance: dims replaced by expressions of loop variables."""
    names = dict(zip(statement.dims, map(simplify, arguments), strict=True))
    safe = poly.unguarded_reads(program, statement.id)
    cells = tuple(
        Cell(array, tuple(_address(e, names) for e in subscripts), program.arrays[array].dtype)
        for array, subscripts in statement.targets
    )
    sums = added(program, statement)
    own = statement.values if sums is None else (sums[1],)
    reduction = sums[0] if sums else statement.reduction if statement.kind == "update" else None
    values = tuple(_value(strict(v, safe), names) for v in own)
    return Write(statement.id, cells, values, reduction, tuple(names.values()))


def _address(expr: Expr, names: dict[str, Expr]) -> Expr:
    """An expression in 64-bit index arithmetic, simplified; reads inside it stay values."""
    match expr:
        case Index(name, _):
            return names.get(name, expr)
        case Const() | Size():
            return expr
        case Read(tensor, subscripts, dtype):
            return Read(tensor, tuple(_address(e, names) for e in subscripts), dtype)
        case Cast() | Select() | Call() if any(reads(expr)):
            return _value(expr, names)
    return simplify(rebuild(expr, tuple(_address(e, names) for e in children(expr))))


def _value(expr: Expr, names: dict[str, Expr]) -> Expr:
    """An expression in its own types: an index or a size used as a value is cast, so that what is computed with it
    wraps around; one without a cast belongs to index arithmetic, whose whole numbers do not (`is_address`)."""
    match expr:
        case Index(name, _):
            return Cast(names.get(name, expr), INT32)
        case Size(name, dtype):
            return Cast(Size(name, INT64), dtype)
        case Const():
            return expr
        case Read(tensor, subscripts, dtype):
            return Read(tensor, tuple(_address(e, names) for e in subscripts), dtype)
        case Binary(op, a, b, dtype) if op in COMPARISONS and is_index_arithmetic(a) and is_index_arithmetic(b):
            return Binary(op, _address(a, names), _address(b, names), dtype)
    return rebuild(expr, tuple(_value(e, names) for e in children(expr)))


def strict(expr: Expr, safe: frozenset[Read]) -> Expr:
    """Where both branches may be evaluated, a selection becomes `select(c, a, b)`, and `&&` becomes `&`."""
    parts = tuple(strict(e, safe) for e in children(expr))
    node = rebuild(expr, parts) if parts else expr
    if isinstance(node, Select) and isinstance(expr, Select) and _harmless(expr, safe):
        return Call("select", (node.condition, node.then, node.otherwise), node.dtype)
    if isinstance(expr, Binary) and expr.op in ("&&", "||") and _reads_harmlessly(expr.right, safe):
        assert isinstance(node, Binary)
        return Binary(node.op[0], node.left, node.right, node.dtype)
    return node


def _reads_harmlessly(expr: Expr, safe: frozenset[Read]) -> bool:
    """Whether it reads arrays, and may do so whatever stands before it: then lanes need no branch."""
    found = list(reads(expr))
    return bool(found) and all(read in safe for read in found)


def _harmless(expr: Select, safe: frozenset[Read]) -> bool:
    return all(read in safe for read in reads(expr.then, expr.otherwise))
