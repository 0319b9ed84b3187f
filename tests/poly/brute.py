"""The meaning of an operator by enumeration: every instance in execution order, and the dependences between
them.

Shares nothing with `workbench/poly`: it walks the operator itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from tests.lang import brute_force
from workbench.lang.expr import Expr, Index, Read, Select, children
from workbench.lang.operator import For, Operator, Range, Statement, Step

Env = dict[str, int]
Cell = tuple[str, tuple[int, ...]]
Key = tuple[str, tuple[int, ...]]  # statement name, values of its dims


@dataclass(frozen=True)
class Event:
    """One instance: what it reads for its value, which cells it updates or overwrites."""

    key: Key
    reads: frozenset[Cell]
    writes: frozenset[Cell]
    update: bool


class Squares(dict[tuple[int, ...], int]):
    """What `idx` holds: squares modulo 3."""

    def __missing__(self, place: tuple[int, ...]) -> int:
        return place[0] ** 2 % 3


INDICES = {"idx": Squares()}


def number(expr: Expr, env: Mapping[str, int]) -> int:
    """An integer or boolean expression; floor division, by 0 gives 0; `idx` holds squares modulo 3."""
    return brute_force.number(expr, env, INDICES)


def events(op: Operator, sizes: Mapping[str, int]) -> list[Event]:
    """Every instance in the order the language says."""
    return [e for step in op.body for e in _step(op, step, dict(sizes))]


def _step(op: Operator, step: Step, env: Env) -> Iterator[Event]:
    if isinstance(step, For):
        for value in _values(step.axis, env):
            for inner in step.body:
                yield from _step(op, inner, {**env, step.axis.index: value})
        return
    if step.initialise:
        yield from _initialisation(op, step, env)
    dims = step.indices()
    for point in _instances(step.ranges, env):
        reads = frozenset(c for v in step.values for c in _cells(v, point))
        writes = frozenset((t.tensor, tuple(number(s, point) for s in t.subscripts)) for t in step.targets)
        yield Event((step.name, tuple(point[d] for d in dims)), reads, writes, step.reduction is not None)


def _values(r: Range, env: Env) -> range:
    if r.index in env:
        return range(env[r.index], env[r.index] + 1)
    return range(number(r.lower, env), number(r.upper, env))


def _instances(ranges: tuple[Range, ...], env: Env) -> Iterator[Env]:
    if not ranges:
        yield env
        return
    for value in _values(ranges[0], env):
        yield from _instances(ranges[1:], {**env, ranges[0].index: value})


def _initialisation(op: Operator, step: Statement, env: Env) -> Iterator[Event]:
    (target,) = step.targets
    names = [s.name for s in target.subscripts if isinstance(s, Index)]
    outer = tuple(env[r.index] for r in step.ranges if r.kind == "sequential")
    if len(set(names)) == len(target.subscripts):
        kept = tuple(r for r in step.ranges if r.kind != "reduction")
        for point in _instances(kept, env):
            cell = (target.tensor, tuple(point[n] for n in names))
            dims = tuple(point[r.index] for r in kept)
            yield Event((f"{step.name}.init", dims), frozenset(), frozenset({cell}), update=False)
        return
    box = op.tensors[target.tensor]
    bounds = [(number(a, env), number(b, env)) for a, b in zip(box.lower, box.extent, strict=True)]
    for cell in product(*(range(a, a + n) for a, n in bounds)):
        key = (f"{step.name}.init", (*outer, *cell))
        yield Event(key, frozenset(), frozenset({(target.tensor, cell)}), update=False)


def _cells(expr: Expr, env: Env) -> Iterator[Cell]:
    match expr:
        case Select(condition, then, otherwise, _):
            yield from _cells(condition, env)
            yield from _cells(then if number(condition, env) else otherwise, env)
        case Read(tensor, subscripts, _):
            yield tensor, tuple(number(s, env) for s in subscripts)
        case _:
            for child in children(expr):
                yield from _cells(child, env)


Pair = tuple[Key, Key]


def dependences(run: list[Event]) -> dict[str, set[Pair]]:
    """The four kinds of dependence between instances, straight from their definition."""
    found: dict[str, set[Pair]] = {"flow": set(), "anti": set(), "output": set(), "reduction": set()}
    for at, later in enumerate(run):
        for earlier in run[:at]:
            if earlier.writes & later.writes:
                relaxed = earlier.update and later.update and earlier.key[0] == later.key[0]
                found["reduction" if relaxed else "output"].add((earlier.key, later.key))
            if earlier.reads & later.writes:
                found["anti"].add((earlier.key, later.key))
        for cell in later.reads:
            found["flow"] |= {(e.key, later.key) for e in _sources(run[:at], later, cell)}
        if later.update:
            for cell in later.writes:
                own = [e for e in run[:at] if e.key[0] != later.key[0] or not e.update]
                found["flow"] |= {(e.key, later.key) for e in _sources(own, later, cell)}
    return found


def _sources(before: list[Event], reader: Event, cell: Cell) -> Iterator[Event]:
    """Writers the value of a cell comes from: updates, back to the last overwriting instance.

    That one counts only if no update of another statement stands between (the value comes through it).
    """
    passed = False
    for event in reversed(before):
        if cell in event.writes:
            if not event.update:
                if not passed:
                    yield event
                return
            yield event
            passed = passed or event.key[0] != reader.key[0]
