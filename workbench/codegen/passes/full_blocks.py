"""Unrolled loops whose last block is shorter: full blocks get a copy of their own with a constant number of iterations.

    for m_o: for k: for m_i < min(M - 4 m_o, 4) (unroll): S

becomes `for m_o: if (M - 4 m_o >= 4) for k: { S; S; S; S } else for k: for m_i < M - 4 m_o: S`.  The test stands as far
outside as the variables in it allow.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import (
    Define,
    For,
    If,
    Invoke,
    Nest,
    Place,
    Write,
    children,
    only,
    rebuild,
    transform,
    walk,
)
from workbench.codegen.passes.register_tiles.tiles import bound
from workbench.lang.algebra.normal_form import mentions
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, conjunction
from workbench.poly.programs.tree import at_once
from workbench.schedules.kernels.lane_instructions import WORD_BYTES

MOST_COPIES = 32  # longer loops are not written out


def full_blocks(nest: Nest) -> Nest:
    """The nest with a copy of each part that holds unrolled loops, for where all of these are full."""
    if isinstance(nest, For | Define):
        found = _decided(nest)
        if found and all(map(_copyable, walk(nest.body))):
            return replace(nest, body=_apart(nest.body, found))
    return rebuild(nest, tuple(map(full_blocks, children(nest))))


def _decided(nest: For | Define) -> list[tuple[For, Expr]]:
    """Unrolled loops inside that end early depending on this variable and on none further inside: what bounds them."""
    inside = {n.variable for n in walk(nest.body) if isinstance(n, For | Define)}
    return [
        (loop, limit) for loop, limit in _cut_short(nest.body)
        if mentions(limit, nest.variable) and not any(mentions(limit, v) for v in inside)
    ]  # fmt: skip


def _apart(body: Nest, found: list[tuple[For, Expr]]) -> Nest:
    """The body twice: with full blocks, and as it was."""
    heads = {_head(loop): limit for loop, limit in found}
    full: list[Expr] = [Binary(">=", limit, Const(_most(loop), INT64), BOOL) for loop, limit in found]
    conditions = list(dict.fromkeys(full))

    def whole(node: Nest) -> Nest:
        if not isinstance(node, For) or _head(node) not in heads:
            return node
        return replace(node, upper=Const(_most(node), INT64))

    def partial(node: Nest) -> Nest:
        if not isinstance(node, For) or _head(node) not in heads:
            return node
        return replace(node, upper=node.upper if len(conditions) > 1 else heads[_head(node)], kind="serial")

    return If(conjunction(conditions), full_blocks(transform(body, whole)), transform(body, partial))


def _copyable(node: Nest) -> bool:
    return not isinstance(node, Place | Invoke) and not (isinstance(node, For) and at_once(node.kind))


def _cut_short(body: Nest) -> list[tuple[For, Expr]]:
    """(loop, what else bounds it) for the unrolled loops inside that may end early."""
    found = []
    for node in walk(body):
        if not isinstance(node, For) or node.kind != "unroll" or node.step != 1:
            continue
        if _straight(node.body) or _words(node):
            limits = bound(node)
            if limits is not None and limits[1] is not None and 1 < limits[0] <= MOST_COPIES:
                found.append((node, limits[1]))
    return found


def _straight(body: Nest) -> bool:
    """Whether nothing inside is executed iteration by iteration: only then is it worth a copy."""
    return all(n.kind == "unroll" for n in walk(body) if isinstance(n, For))


def _words(loop: For) -> bool:
    """Whether it copies rows of short elements that stand side by side in words: whole words are copied at once."""
    inner, limits = only(loop.body), bound(loop)
    write = only(inner.body) if isinstance(inner, For) else None
    if limits is None or not isinstance(write, Write) or write.reduction is not None or write.cells[0].dtype.bytes > 2:
        return False
    return limits[0] * write.cells[0].dtype.bytes == WORD_BYTES


def _most(loop: For) -> int:
    limits = bound(loop)
    assert limits is not None
    return limits[0]


def _head(loop: For) -> tuple[str, Expr, Expr, str]:
    return loop.variable, loop.lower, loop.upper, loop.kind
