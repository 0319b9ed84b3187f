"""Operators over arrays whose axes stand in another order in memory, written from their definitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import TypeVar

from workbench.errors import OperatorError
from workbench.lang.definitions import assembled, operator
from workbench.lang.expr import Expr, Index, Read, index_names, reads
from workbench.lang.operator import Operator, Statement
from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import (
    Assign,
    CallStep,
    Clause,
    ExistsClause,
    ForStep,
    LetClause,
    Parameter,
    RangeClause,
    StepNode,
    TargetNode,
    Unit,
)
from workbench.lang.syntax.terms import Apply, Infix, Prefix, Term, Ternary

Order = tuple[int, ...]
"""Which axis stands at each place, the innermost last: (0, 2, 3, 1) is NHWC of what is NCHW."""
Orders = tuple[tuple[str, Order], ...]
C = TypeVar("C", bound=Clause)


def identity(rank: int) -> Order:
    """The order in which the axes are written."""
    return tuple(range(rank))


def composed(first: Order, second: Order) -> Order:
    """The order of an array that is put into one order, and what comes of it into another."""
    return tuple(first[at] for at in second)


def inverse(order: Order) -> Order:
    """The order that undoes another."""
    return tuple(order.index(at) for at in range(len(order)))


@lru_cache(maxsize=1024)
def relaid(op: Operator, orders: Orders) -> Operator | None:
    """The operator that takes and gives some of its arrays in other orders, and computes the same.

    `C(m,n) +=! A(m,k) * B(k,n)` with B in the order (1, 0) becomes `C(m,n) +=! A(m,k) * B(n,k)`.  A temporary whose
    axes are those of an array that moves follows it.  None where that cannot be said of the one definition: it calls
    others, updates an array that would move, or makes promises of it.
    """
    changed = {name: order for name, order in orders if order != identity(len(order))}
    if not changed:
        return op
    unit = parse(op.text)
    define = next((each for each in unit.defs() if each.name.name == op.name), None)
    if define is None or define.promises or any(op.tensors[name].role == "inout" for name in changed):
        return None
    moved = changed | followed(op, changed)
    try:
        body = tuple(_step(each, moved) for each in define.body)
        made = replace(
            define,
            name=replace(define.name, name=_name(op, changed)),
            parameters=tuple(_declared(each, changed) for each in define.parameters),
            outputs=tuple(_declared(each, changed) for each in define.outputs),
            body=body,
        )
        unit = Unit((*unit.monoids(), made))
        return assembled(unit, made.name.name, print_unit(unit))
    except OperatorError:
        return None


def followed(op: Operator, changed: Mapping[str, Order]) -> dict[str, Order]:
    """The orders of temporaries that follow arrays which move: a picture with a border stands as the picture does.

    One follows where it is made of such an array, or such an array of it, axis by axis: at each place the subscripts of
    both name the same indices, or none.
    """
    found: dict[str, Order] = {}
    inside = {name for name, tensor in op.tensors.items() if tensor.role == "temporary"}
    statements = list(op.statements())
    for statement in (*statements, *reversed(statements)):
        touched = [(t.tensor, t.subscripts) for t in statement.targets]
        touched += [(r.tensor, r.subscripts) for r in reads(*statement.values)]
        known = [(subscripts, order) for name, subscripts in touched if (order := {**found, **changed}.get(name))]
        for name, subscripts in touched:
            order = next((o for others, o in known if _axis_by_axis(subscripts, others)), None)
            if name in inside - found.keys() and order is not None:
                found[name] = order
    return found


def _axis_by_axis(subscripts: tuple[Expr, ...], others: tuple[Expr, ...]) -> bool:
    """Whether two arrays are touched at places that move with the same indices along each axis."""
    own, other = ([index_names(each) for each in both] for both in (subscripts, others))
    return len(own) == len(other) and all(a == b or not a or not b for a, b in zip(own, other, strict=True))


def _name(op: Operator, changed: Mapping[str, Order]) -> str:
    return "_".join((op.name, *(f"{name}{''.join(map(str, order))}" for name, order in sorted(changed.items()))))


def _declared(parameter: Parameter, changed: Mapping[str, Order]) -> Parameter:
    of, order = parameter.type, changed.get(parameter.name.name)
    if of is None or order is None:
        return parameter
    return replace(parameter, type=replace(of, dims=_moved(of.dims, order)))


def _moved(parts: tuple[Term, ...], order: Order) -> tuple[Term, ...]:
    return tuple(parts[at] for at in order)


def _step(step: StepNode, changed: Mapping[str, Order]) -> StepNode:
    match step:
        case ForStep(of, body):
            return replace(step, range=_clause(of, changed), body=tuple(_step(each, changed) for each in body))
        case Assign(targets, _, values, clauses):
            return replace(
                step,
                targets=tuple(_target(each, changed) for each in targets),
                values=tuple(_term(each, changed) for each in values),
                clauses=tuple(_clause(each, changed) for each in clauses),
            )
        case CallStep():
            raise OperatorError("a definition that calls another keeps its layouts")


def _target(target: TargetNode, changed: Mapping[str, Order]) -> TargetNode:
    subscripts = tuple(_term(each, changed) for each in target.subscripts)
    order = changed.get(target.name.name)
    return replace(target, subscripts=subscripts if order is None else _moved(subscripts, order))


def _clause(clause: C, changed: Mapping[str, Order]) -> C:
    match clause:
        case RangeClause(_, lower, upper):
            return replace(clause, lower=_term(lower, changed), upper=_term(upper, changed))
        case LetClause(_, value) | ExistsClause(value):
            return replace(clause, value=_term(value, changed))


def _term(term: Term, changed: Mapping[str, Order]) -> Term:
    match term:
        case Apply(name, arguments):
            inside = tuple(_term(each, changed) for each in arguments)
            order = changed.get(name.name)
            return replace(term, arguments=inside if order is None else _moved(inside, order))
        case Prefix(_, operand):
            return replace(term, operand=_term(operand, changed))
        case Infix(_, left, right):
            return replace(term, left=_term(left, changed), right=_term(right, changed))
        case Ternary(condition, then, otherwise):
            parts = (_term(each, changed) for each in (condition, then, otherwise))
            return Ternary(*parts)  # type: ignore[misc]
        case _:
            return term


# --- data movements


@cache
def transposition(rank: int, order: Order) -> Operator:
    """`y(i0, i2, ...) = x(i0, i1, i2, ...)`: the array in another order."""
    sizes, cell = ", ".join(f"N{at}" for at in range(rank)), ", ".join(f"i{at}" for at in range(rank))
    name, moved = f"transpose_{''.join(map(str, order))}", ", ".join(f"i{at}" for at in order)
    return operator(f"def {name}<T>(T({sizes}) x) -> (y) {{ y({moved}) = x({cell}) }}")


@lru_cache(maxsize=1024)
def moves(op: Operator) -> Order | None:
    """The order in which an operator gives its one argument, if it does nothing else to it."""
    steps = list(op.body)
    if len(op.outputs) != 1 or len(op.parameters) != 1 or len(steps) != 1 or not isinstance(steps[0], Statement):
        return None
    step = steps[0]
    if step.reduction is not None or step.condition is not None or len(step.targets) != 1:
        return None
    value, target = step.values[0], step.targets[0]
    if not isinstance(value, Read) or value.tensor != op.parameters[0]:
        return None
    read = [each for each in value.subscripts if isinstance(each, Index)]
    written = [each for each in target.subscripts if isinstance(each, Index)]
    rank = len(value.subscripts)
    if not len(read) == len(written) == rank == len(set(read)) or set(read) != set(written):
        return None
    whole = op.tensors[op.outputs[0]].extent == tuple(op.tensors[value.tensor].extent[read.index(e)] for e in written)
    return tuple(read.index(each) for each in written) if whole else None
