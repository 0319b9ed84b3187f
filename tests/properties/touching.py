"""Instances and the cells they touch, as Python values: from an operator's text, or from a program's statements.

Nothing is asked of `workbench/poly` or `workbench/schedules`; statements, subscripts, values and bounds are read as
data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.properties.instance_sets import points
from tests.properties.plain import Contents, Unknown, nothing, number, reads_data
from workbench.lang.expr import Call, Cast, Const, Expr, Index, Read, Select, children
from workbench.lang.operator import For, Operator, Range, Statement

Cell = tuple[str, tuple[int, ...]]
Key = tuple[str, tuple[int, ...]]  # statement id, values of its dims
Shape = Any  # ("cell", Cell), ("number", value) or (what, operand shapes...)


@dataclass(frozen=True, slots=True)
class Event:
    """One instance.

    `shapes` are its values over the cells they read (one a target), `reads` those cells, `maybe` the ones read only if
    data say so.  `reduction` names what combines the values with the targets; `begins` says that the
    targets get its identity.
    """

    key: Key
    writes: tuple[Cell, ...]
    shapes: tuple[Shape, ...]
    reads: frozenset[Cell]
    maybe: frozenset[Cell]
    reduction: str | None
    begins: bool = False

    @property
    def updates(self) -> bool:
        return self.reduction is not None and not self.begins


@dataclass(frozen=True)
class Body:
    """What a statement does, whichever way it came here."""

    id: str
    dims: tuple[str, ...]
    targets: tuple[tuple[str, tuple[Expr, ...]], ...]
    values: tuple[Expr, ...]
    reduction: Any
    begins: bool

    def event(self, env: Mapping[str, int], contents: Contents) -> Event:
        """The instance at a point (names → numbers)."""
        seen: tuple[set[Cell], set[Cell]] = (set(), set())
        shapes = () if self.begins else tuple(shape(v, env, contents, seen, 0) for v in self.values)
        writes = []
        for tensor, subscripts in self.targets:
            for s in subscripts:
                if reads_data(s):
                    shape(s, env, contents, seen, 0)
            writes.append((tensor, tuple(number(s)(env, contents) for s in subscripts)))
        name = getattr(self.reduction, "name", self.reduction)
        point = tuple(env[d] for d in self.dims)
        certain, maybe = frozenset(seen[0]), frozenset(seen[1] - seen[0])
        return Event((self.id, point), tuple(writes), shapes, certain, maybe, name, self.begins)


def shape(expr: Expr, env: Mapping[str, int], contents: Contents, seen: tuple[set, set], maybe: int) -> Shape:
    """The value of an expression over cells; numbers are worked out, choices made where data do not matter."""
    if not reads_data(expr):
        if isinstance(expr, Const):
            return ("number", expr.value)
        try:
            return ("number", number(expr)(env, nothing))
        except Unknown:
            pass
    match expr:
        case Read(tensor, subscripts, _):
            for s in subscripts:
                if reads_data(s):
                    shape(s, env, contents, seen, maybe)
            cell = (tensor, tuple(number(s)(env, contents) for s in subscripts))
            seen[maybe].add(cell)
            return ("cell", cell)
        case Select(condition, then, otherwise, _):
            asked = shape(condition, env, contents, seen, maybe)
            try:
                return shape(then if number(condition)(env, contents) else otherwise, env, contents, seen, maybe)
            except Unknown:
                return ("select", asked, *(shape(e, env, contents, seen, 1) for e in (then, otherwise)))
    label = getattr(expr, "op", None) or getattr(expr, "function", None) or type(expr).__name__
    if isinstance(expr, Cast | Call):
        label = f"{label} {expr.dtype.name}"
    return (label, *(shape(child, env, contents, seen, maybe) for child in children(expr)))


# -- an operator in the order of its text ----------------------------------------------------------------


def of_operator(op: Operator, sizes: Mapping[str, int], contents: Contents = nothing) -> list[Event]:
    """Every instance in the order the language says.  Statements are numbered as they stand: S0, S1, ..."""
    return list(_Walk(op, contents, _numbered(op)).steps(op.body, dict(sizes)))


def _numbered(op: Operator) -> dict[int, tuple[list[Body], Body]]:
    """The bodies of each statement: initialisations, then the statement itself."""
    found, count = {}, 0
    for step in op.statements():
        first = []
        for tensor, dims, subscripts in _initialised(step, op) if step.initialise else ():
            targets = tuple(zip(tensor, subscripts, strict=True))
            first.append(Body(f"S{count + len(first)}", dims, targets, (), step.reduction, begins=True))
        count += len(first) + 1
        targets = tuple((t.tensor, t.subscripts) for t in step.targets)
        body = Body(f"S{count - 1}", step.indices(), targets, step.values, step.reduction, begins=False)
        found[id(step)] = (first, body)
    return found


def _initialised(step: Statement, op: Operator) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], tuple]]:
    """Targets, dims and subscripts of what `!` adds: one instance a free point, or one a cell of each target."""
    if not step.initialises_all:
        dims = tuple(r.index for r in step.ranges if r.kind != "reduction")
        yield tuple(t.tensor for t in step.targets), dims, tuple(t.subscripts for t in step.targets)
        return
    axes = step.indices("sequential")
    for tensor in dict.fromkeys(t.tensor for t in step.targets):
        names = tuple(f"cell {d}" for d in range(op.tensors[tensor].rank))
        yield (tensor,), (*axes, *names), (tuple(map(Index, names)),)


@dataclass
class _Walk:
    op: Operator
    contents: Contents
    bodies: dict[int, tuple[list[Body], Body]]

    def steps(self, body: tuple[Any, ...], env: dict[str, int]) -> Iterator[Event]:
        for step in body:
            if isinstance(step, For):
                for value in self.values(step.axis, env):
                    yield from self.steps(step.body, {**env, step.axis.index: value})
            else:
                first, own = self.bodies[id(step)]
                for initial in first:
                    yield from self.beginning(step, initial, env)
                for env_here in self.instances(step.ranges, env):
                    yield own.event(env_here, self.contents)

    def beginning(self, step: Statement, body: Body, env: dict[str, int]) -> Iterator[Event]:
        if not step.initialises_all:
            kept = tuple(r for r in step.ranges if r.kind != "reduction")
            hidden = any(r.bounding & set(step.indices("reduction")) for r in kept)
            ranges = step.ranges if hidden else kept
            seen = {}
            for here in self.instances(ranges, env):
                seen.setdefault(tuple(here[r.index] for r in kept), here)
            for here in seen.values():
                yield body.event(here, self.contents)
            return
        box = self.op.tensors[body.targets[0][0]]
        bounds = [
            (number(a)(env, nothing), number(n)(env, nothing)) for a, n in zip(box.lower, box.extent, strict=True)
        ]
        for cell in product(*(range(a, a + n) for a, n in bounds)):
            yield body.event({**env, **{f"cell {d}": x for d, x in enumerate(cell)}}, self.contents)

    def values(self, r: Range, env: dict[str, int]) -> range:
        if r.index in env:
            return range(env[r.index], env[r.index] + 1)
        return range(number(r.lower)(env, nothing), number(r.upper)(env, nothing))

    def instances(self, ranges: tuple[Range, ...], env: dict[str, int]) -> Iterator[dict[str, int]]:
        if not ranges:
            yield env
            return
        for value in self.values(ranges[0], env):
            yield from self.instances(ranges[1:], {**env, ranges[0].index: value})


# -- a program, whatever its statements ----------------------------------------------------------------------


def keys_of(program: Any, sizes: Mapping[str, int]) -> list[Key]:
    """The instances of every statement of a program, in no particular order."""
    given = tuple(sorted({**program.sizes, **sizes}.items()))
    return [(s.id, point) for s in program.statements for point in points(s.domain, given)]


def of_program(program: Any, sizes: Mapping[str, int], keys: Iterable[Key], contents: Contents) -> list[Event]:
    """The instances when they run in the order of `keys`; indices may be copies that earlier ones made."""
    env, held, found = {**program.sizes, **sizes}, _Copied(program, contents), []
    bodies = {
        s.id: Body(s.id, s.dims, s.targets, s.values, s.reduction, begins=s.kind == "initialise")
        for s in program.statements
    }
    for name, point in keys:
        body = bodies[name]
        here = {**env, **dict(zip(body.dims, point, strict=True))}
        found.append(body.event(here, held))
        held.follow(body, here, found[-1])
    return found


class _Copied:
    """The contents of index arrays, and of the arrays they are copied to, as they are while instances run."""

    def __init__(self, program: Any, contents: Contents) -> None:
        self.contents = contents
        arrays = program.arrays.values()
        self.copies = {a.name for a in arrays if a.role != "input" and a.dtype.kind in ("int", "uint")}
        self.held: dict[Cell, int] = {}

    def __call__(self, tensor: str, cell: tuple[int, ...]) -> int:
        if tensor not in self.copies:
            return self.contents(tensor, cell)
        if (tensor, cell) not in self.held:
            raise Unknown(f"{tensor}{cell}")
        return self.held[tensor, cell]

    def follow(self, body: Body, env: Mapping[str, int], event: Event) -> None:
        """Remember what an instance assigns to an array of integers."""
        for cell, value in zip(event.writes, body.values, strict=False):
            if cell[0] not in self.copies:
                continue
            self.held.pop(cell, None)
            if event.reduction is None:
                with suppress(Unknown):
                    self.held[cell] = number(value)(env, self)


def replaced(contents: Contents, cells: Mapping[Cell, int]) -> Contents:
    """The same contents but for some cells."""
    return lambda tensor, cell: cells[tensor, cell] if (tensor, cell) in cells else contents(tensor, cell)
