"""A step between statements as plain data: what a tile of the consumer needs, what is computed again, what is saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from workbench import poly
from workbench.errors import WorkbenchError, unknown_name
from workbench.poly.programs.origins import originals
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Loop
from workbench.poly.time.timemap import shared
from workbench.records import record
from workbench.viz.frames.coordinates import Point, Subject, component
from workbench.viz.views.performance.footprint_data import Level

At = dict[str, int]


@record
class Flow:
    """From a producer to a consumer (ids of the program that is drawn) through an array, inside `around`."""

    producer: str
    consumer: str
    array: str
    around: tuple[Loop, ...]


@record
class Computed:
    """Instances of the operator's statement `name`, how often each is computed; `needed` are those of the tile."""

    name: str
    identifier: str
    times: dict[Point, int]
    needed: frozenset[Point]


@record
class Saving:
    """Bytes between a cache and what is behind it."""

    cache: str
    before: int
    after: int


@record
class Fusion:
    """The tile `at` of the consumer, the instances of both, and the counts at the schedule's own sizes."""

    title: str
    step: str
    flow: Flow
    at: At
    producer: Computed
    consumer: Computed
    instances: tuple[tuple[str, int, int], ...]
    savings: tuple[Saving, ...]


def flow_of(of: Subject) -> Flow:
    """The flow through a temporary whose two ends share most loops; WorkbenchError when nothing feeds anything."""
    program = of.program
    found = [
        Flow(p.id, c.id, w.array, shared(of.tree, p.id, c.id).loops)
        for p in program.statements
        for c in program.statements
        for w in p.writes
        if p.id != c.id and p.kind != "initialise" and any(r.array == w.array and not r.accumulates for r in c.reads)
    ]
    if not found:
        raise WorkbenchError(
            f"{program.name}: no statement feeds another, so there is nothing to fuse; footprint shows its tiles"
        )
    return max(found, key=lambda f: (len(f.around), f.array not in program.outputs))


def computed(of: Subject, identifier: str, flow: Flow, at: At) -> Computed:
    """How often each of the operator's instances behind a statement is computed, and which of them inside a tile."""
    program, original = of.program, of.program.original
    pairs = originals(program, identifier)
    if not pairs:
        pairs = {p: (identifier, p) for p in poly.instances_at(program, identifier, {})}
    own = program.statement(identifier)
    clocks = [(loop.name, component(program, loop, own, {})) for loop in flow.around]
    inside = {target for point, (_, target) in pairs.items() if all(at[n] == t(point) for n, t in clocks)}
    root = next(iter(pairs.values()))[0]
    named = original.statement(root) if any(s.id == root for s in original.statements) else own
    times = Counter(target for _, target in pairs.values())
    return Computed(f"{named.name}({', '.join(named.dims)})", root, dict(times), frozenset(inside))


def shared_iteration(of: Subject, flow: Flow, asked: Mapping[str, int] | None) -> At:
    """The iteration of the loops around both: the one asked for, or that of the consumer's middle instance."""
    names = [loop.name for loop in flow.around]
    for name in asked or {}:
        if name not in names:
            raise WorkbenchError(f"fusion: {unknown_name('loop around both statements', name, names)}")
    own = of.program.statement(flow.consumer)
    points = poly.instances_at(of.program, flow.consumer, {})
    clocks = [component(of.program, loop, own, {}) for loop in flow.around]
    matching = [
        p
        for p in points
        if all(dict(zip(names, (t(p) for t in clocks), strict=True))[n] == v for n, v in (asked or {}).items())
    ]
    if not matching:
        raise WorkbenchError(f"fusion: the consumer has no instance at {dict(asked or {})}; choose another iteration")
    middle = matching[len(matching) // 2]
    return {name: time(middle) for name, time in zip(names, clocks, strict=True)}


def instance_counts(before: Program, after: Program) -> tuple[tuple[str, int, int], ...]:
    """(operator's statement, instances before, instances after) for those that compute."""
    one, other = _by_root(before), _by_root(after)
    return tuple((name, one.get(name, 0), other.get(name, 0)) for name in dict.fromkeys([*one, *other]))


def _by_root(program: Program) -> dict[str, int]:
    found: dict[str, int] = {}
    for s in program.statements:
        if s.part == "computes" and s.kind != "initialise" and (name := _root(program, s.id)) is not None:
            found[name] = found.get(name, 0) + poly.points(program, s.id)
    return found


def _root(program: Program, identifier: str) -> str | None:
    """Name of the operator's statement that a statement computes; None for one that a step made."""
    while program.parent is not None:
        if all(s.id != identifier for s in program.statements):
            return None
        origin = program.statement(identifier).origin
        if origin:
            identifier = origin.partition("->")[2].strip().partition("[")[0]
        program = program.parent
    return next((s.name for s in program.statements if s.id == identifier), None)


def savings(before: tuple[Level, ...], after: tuple[Level, ...]) -> tuple[Saving, ...]:
    """The traffic of each cache, before and after."""
    return tuple(Saving(a.name, a.moved_bytes, b.moved_bytes) for a, b in zip(before, after, strict=True))
