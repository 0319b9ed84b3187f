"""The reverse mode inside one expression: what a change of each read does to the value.

A contribution below `c ? a : b` is guarded by `c` as a whole, so that a division by 0 in the branch that is not
taken stays in that branch (0 times infinity would be no number).
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.lang.derived.calculus.algebra import (
    ONE,
    ZERO,
    both,
    if_then_else,
    is_zero,
    negative,
    opposite,
    over,
    plus,
    times,
)
from workbench.lang.derived.calculus.partials import partials
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, Select, Unary, children

Guard = tuple[Expr, ...]
Shares = dict[Guard, Expr]


def derivatives(value: Expr, active: Iterable[str]) -> dict[Read, Shares]:
    """For every read of an active tensor, the derivative of the value by it: a sum of factors, each with its guard.

    >>> from workbench.lang.dtypes import FLOAT64
    >>> from workbench.lang.printing.printer import show
    >>> x, y = Read("x", (), FLOAT64), Read("y", (), FLOAT64)
    >>> found = derivatives(Binary("*", x, y, FLOAT64), {"x"})
    >>> {show(read): {guard: show(factor) for guard, factor in shares.items()} for read, shares in found.items()}
    {'x': {(): 'y'}}
    """
    wanted = frozenset(active)
    ordered = _parents_first(value)
    varying = _varying(ordered, wanted)
    shares: dict[Expr, Shares] = {value: {(): ONE}}
    for node in ordered:
        if node not in varying or node not in shares:
            continue
        for operand, guard, factor in _local(node):
            if operand not in varying:
                continue
            own = shares.setdefault(operand, {})
            for outer, share in shares[node].items():
                merged = _merged(outer, guard)
                own[merged] = plus(own.get(merged, ZERO), times(share, factor))
    return {
        node: shares[node] for node in ordered if isinstance(node, Read) and node.tensor in wanted and node in shares
    }


def _guarded(shares: Shares, seed: Expr) -> Expr:
    """The seed times the derivative, the conditions outermost."""
    total: Expr = ZERO
    for guard, factor in shares.items():
        total = plus(total, if_then_else(all_of(guard), times(seed, factor)))
    return total


def all_of(guard: Guard) -> Expr:
    """All conditions of a guard at once."""
    result: Expr = Const(True, BOOL)
    for condition in guard:
        result = both(result, condition)
    return result


def _merged(outer: Guard, inner: Guard) -> Guard:
    return (*outer, *(condition for condition in inner if condition not in outer))


def _parents_first(value: Expr) -> list[Expr]:
    """Every node once, after all nodes that have it as an operand."""
    done: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(value, False)]
    while stack:
        node, expanded = stack.pop()
        if node in done:
            continue
        if expanded:
            done[node] = None
            continue
        stack.append((node, True))
        stack += [(operand, False) for operand in _operands(node) if operand not in done]
    return list(reversed(done))


def _operands(node: Expr) -> tuple[Expr, ...]:
    """What a derivative may pass to: nothing inside subscripts and conditions."""
    if isinstance(node, Read) or not node.dtype.is_float:
        return ()
    return children(node)[1:] if isinstance(node, Select) else children(node)


def _varying(ordered: list[Expr], wanted: frozenset[str]) -> set[Expr]:
    found: set[Expr] = set()
    for node in reversed(ordered):
        if isinstance(node, Read):
            if node.tensor in wanted:
                found.add(node)
        elif any(operand in found for operand in _operands(node)):
            found.add(node)
    return found


def _local(node: Expr) -> Iterable[tuple[Expr, Guard, Expr]]:
    """(operand, guard, derivative of the node by that operand)."""
    match node:
        case Unary("-", operand, _):
            yield operand, (), negative(ONE)
        case Cast(operand, _):
            yield operand, (), ONE
        case Binary("+" | "-" as op, left, right, _):
            yield left, (), ONE
            yield right, (), ONE if op == "+" else negative(ONE)
        case Binary("*", left, right, _):
            yield left, (), right
            yield right, (), left
        case Binary("/", left, right, _):
            yield left, (), over(ONE, right)
            yield right, (), negative(over(node, right))
        case Select(condition, then, otherwise, _):
            yield then, (condition,), ONE
            yield otherwise, (opposite(condition),), ONE
        case Call():
            for argument, factor in zip(node.arguments, partials(node), strict=True):
                if not is_zero(factor):
                    yield from _split(argument, factor)


def _split(argument: Expr, factor: Expr) -> Iterable[tuple[Expr, Guard, Expr]]:
    """A factor that is chosen becomes guarded factors: what is not chosen is not multiplied."""
    match factor:
        case Select(condition, then, otherwise, _) if _may_be_zero(factor):
            for guard, part in (((condition,), then), ((opposite(condition),), otherwise)):
                if not is_zero(part):
                    for operand, inner, share in _split(argument, part):
                        yield operand, _merged(guard, inner), share
        case _:
            yield argument, (), factor


def _may_be_zero(factor: Expr) -> bool:
    if isinstance(factor, Select):
        return _may_be_zero(factor.then) or _may_be_zero(factor.otherwise)
    return is_zero(factor)
