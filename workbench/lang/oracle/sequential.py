"""Loops of an operator's text (`for t in 1:T { ... }`) whose iterations are too small for whole arrays.

A call of NumPy costs as much as a thousand cells, so a loop whose body is one cell is not executed as a loop of whole
statements: around a single statement its axes become indices of that statement, which then runs in wavefronts or one
instance after another, in the same order; several statements of single cells are compiled to closures once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from workbench.lang.operator import For, Statement, Step
from workbench.lang.oracle.exact import exact
from workbench.lang.oracle.numbers import Arithmetic
from workbench.lang.oracle.order import name_offset, own_reads, serial_indices
from workbench.lang.oracle.scalars import Environment, instance_of, is_small
from workbench.lang.oracle.values import Memory


def as_one_statement(loop: For) -> Statement | None:
    """The only statement of a nest of loops with the axes as indices of its own; None where that says something else.

    Each instance must write a cell of its own, and read its statement's cells at constant distances: then the order
    of instances is all that the loops say.
    """
    axes, statement = {loop.axis.index}, _only(loop.body)
    while isinstance(statement, For):
        axes, statement = axes | {statement.axis.index}, _only(statement.body)
    if statement is None:
        return None
    if statement.reduction is not None or statement.condition is not None or len(statement.targets) != 1:
        return None
    ranges = tuple(replace(r, kind="free") if r.index in axes else r for r in statement.ranges)
    whole = replace(statement, ranges=ranges)
    places = [name_offset(s) for s in statement.targets[0].subscripts]
    named = [place[0] for place in places if place is not None and place[0]]
    if None in places or len(named) > len(set(named)) or not set(whole.indices("free")) <= set(named):
        return None
    return whole if serial_indices(whole, own_reads(whole)) is not None else None


def _only(body: tuple[Step, ...]) -> Step | None:
    return body[0] if len(body) == 1 else None


def is_of_cells(loop: For) -> bool:
    """Whether every statement of a loop is a single cell in each iteration, and may be a closure."""
    return all(is_of_cells(step) if isinstance(step, For) else _is_a_cell(step) for step in loop.body)


def _is_a_cell(statement: Statement) -> bool:
    plain = statement.reduction is None and statement.condition is None and len(statement.targets) == 1
    return plain and all(r.kind == "sequential" for r in statement.ranges) and is_small(statement)


def run_cells(loop: For, fixed: Mapping[str, int], memory: Memory, arithmetic: Arithmetic) -> None:
    """Execute a loop of single cells, in order."""
    _compiled(loop, memory, arithmetic)(dict(fixed))


def _compiled(step: Step, memory: Memory, arithmetic: Arithmetic) -> Callable[[Environment], None]:
    if isinstance(step, Statement):
        return instance_of(step, memory, arithmetic)
    axis, parts = step.axis, [_compiled(inner, memory, arithmetic) for inner in step.body]

    def run(env: Environment) -> None:
        for value in range(int(exact(axis.lower, env)), int(exact(axis.upper, env))):
            env[axis.index] = value
            for part in parts:
                part(env)

    return run
