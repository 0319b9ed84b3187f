"""Programs of one operator for many sizes: what only says how long an axis is stays open, and is looked up afterwards.

Calls of a network differ in their numbers of channels more than in anything else.  A size that is the length of axes
which are walked from end to end, and nothing besides, makes no relation harder for isl when it is a parameter: so
dependences are found once for all of them, together with the sizes at which each fact holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from workbench.errors import LoweringError
from workbench.lang.expr import Const, Expr, Index, Read, Size, children, index_names, size_names
from workbench.lang.operator import Operator, Range, Statement
from workbench.poly.lowering import lower_as_said
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl

Sizes = tuple[tuple[str, int], ...]


@lru_cache(maxsize=1024)
def program_at(op: Operator, sizes: Sizes) -> tuple[Program, Sizes] | None:
    """The program of an operator, and those of the sizes that it leaves open; None where it is not affine.

    Where it is affine with all sizes open, facts are asked for every size: none is given.
    """
    program = _with_all_open(op)
    if program is not None:
        return program, ()
    return partly_open(op, sizes)


def partly_open(op: Operator, sizes: Sizes) -> tuple[Program, Sizes] | None:
    """The program in which the plain sizes stay open, and what they are; else that at all of these sizes, if any is.

    Where a length is 1, subscripts are simpler than elsewhere (`poly.programs.subscripts`).
    """
    plain = plain_sizes(op)
    left = tuple((name, value) for name, value in sizes if name in plain and value > 1)
    for known in dict.fromkeys((left, ())):
        try:
            return lower_as_said(op, {name: value for name, value in sizes if (name, value) not in known}), known
        except LoweringError:
            continue
    return None


@lru_cache(maxsize=1024)
def _with_all_open(op: Operator) -> Program | None:
    try:
        return lower_as_said(op, {})
    except LoweringError:
        return None


@lru_cache(maxsize=8192)
@isl.guarded
def occurs(sizes: str, known: Sizes) -> bool:
    """Whether one of these sizes (isl text of a parameter set; nothing for none) agrees with those that are known."""
    if not sizes or not known:
        return bool(sizes)
    names = ", ".join(to_isl(name) for name, _ in known)
    given = " and ".join(f"{to_isl(name)} = {value}" for name, value in known)
    return not isl.parse_set(sizes).intersect(isl.parse_set(f"[{names}] -> {{ : {given} }}")).is_empty()


# --- sizes that are lengths of axes and nothing else


@lru_cache(maxsize=1024)
def plain_sizes(op: Operator) -> frozenset[str]:
    """The sizes that say nothing but how long axes are, each walked from its first cell to its last.

    >>> from workbench.ops.catalogue import load
    >>> sorted(plain_sizes(load("conv2d")))
    ['C', 'F', 'N']
    """
    found = set(op.size_names)
    for condition in op.conditions:
        found -= size_names(condition.expr)
    for tensor in op.tensors.values():
        for lower, extent in zip(tensor.lower, tensor.extent, strict=True):
            found -= size_names(lower) | (set() if isinstance(extent, Size) else size_names(extent))
    for promise in op.promises:
        found -= {name for each in promise.arguments for name in size_names(each)}
    for statement in op.statements():
        found -= _told_otherwise(statement) | _cut_short(op, statement)
    return frozenset(found)


def _cut_short(op: Operator, statement: Statement) -> set[str]:
    """The sizes that are lengths of what a statement writes of axes with other lengths."""
    lengths = {of.index: of.upper for of in statement.ranges}
    pairs = [(s, e) for t in statement.targets for s, e in zip(t.subscripts, op.tensors[t.tensor].extent, strict=True)]
    return {
        name for subscript, extent in pairs if isinstance(subscript, Index) and lengths[subscript.name] != extent
        for name in size_names(lengths[subscript.name])
    }  # fmt: skip


def _told_otherwise(statement: Statement) -> set[str]:
    """The sizes that a statement uses in another way."""
    exprs = [*statement.values, *(s for target in statement.targets for s in target.subscripts if not _is_bare(s))]
    exprs += [statement.condition] if statement.condition is not None else []
    found = {name for each in exprs for name in size_names(each)}
    counted = {name for each in exprs for name in _calculated_with(each)}
    counted |= {name for of in statement.ranges for name in index_names(of.lower) | index_names(of.upper)}
    for of in statement.ranges:
        found |= size_names(of.lower)
        if not _is_whole(of) or of.index in counted:
            found |= size_names(of.upper)
    return found


def _is_bare(subscript: Expr) -> bool:
    return isinstance(subscript, Index)


def _is_whole(of: Range) -> bool:
    return of.kind != "sequential" and of.lower == Const(0, of.lower.dtype) and isinstance(of.upper, Size)


def _calculated_with(expr: Expr) -> Iterator[str]:
    """The indices that occur other than as the whole subscript of a tensor."""
    if isinstance(expr, Index):
        yield expr.name
    for child in children(expr):
        if not (isinstance(expr, Read) and isinstance(child, Index)):
            yield from _calculated_with(child)
