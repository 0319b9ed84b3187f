"""Instances and dependences one by one, for small sizes: what a picture draws and a brute-force test compares."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from workbench.errors import WorkbenchError
from workbench.lang.algebra.folding import fold
from workbench.poly.dependence.flow import dependences
from workbench.poly.programs.program import Dependence, DependenceKind, Program, ProgramStatement
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import to_isl
from workbench.poly.sets.witness import fix_sizes
from workbench.poly.time.timemap import instance, prefix
from workbench.records import record

LIMIT = 20_000

Point = tuple[int, ...]
Dims = tuple[str, ...]


@record
class Pairs:
    """The instances of one dependence: (source, target) points, each in the order of its statement's dims."""

    dependence: Dependence
    pairs: tuple[tuple[Point, Point], ...]


@isl.guarded
def instances_at(
    program: Program,
    statement: str,
    sizes: Mapping[str, int],
    *,
    keep: Collection[str] | None = None,
    window: int | None = None,
    limit: int = LIMIT,
) -> tuple[Point, ...]:
    """Every instance of a statement (by id) at these sizes, in lexicographic order.

    `sizes` binds the symbols of the program.  With `keep`, points have only the dims of these names: what the others
    run through is one point.  `window` keeps only the first so many values of each dim, counted from its least one.
    WorkbenchError when a symbol is missing or there are more than `limit` points.
    """
    own = program.statement(statement)
    return tuple(unpack.points(_projected(_domain(program, own, sizes, window), own.dims, keep), limit))


@isl.guarded
def dependence_pairs(
    program: Program,
    sizes: Mapping[str, int],
    *,
    among: Collection[str] | None = None,
    keep: Collection[str] | None = None,
    window: int | None = None,
    limit: int = LIMIT,
) -> tuple[Pairs, ...]:
    """Instances of the dependences between some statements (ids; all when None), as `instances_at` gives them.

    A pair that others imply is left out: one dependence leads from the source to an instance between, another from
    there to the target.  What is drawn is then a chain, not everything a chain connects.  A flow is only implied by
    flows and contributions to reductions, so that no movement of data disappears.
    """
    own = [s for s in program.statements if among is None or s.id in among]
    domains = {s.id: _domain(program, s, sizes, window) for s in own}
    inside = {
        d: fix_sizes(isl.parse_map(d.relation), dict(sizes))
        .intersect_domain(domains[d.source])
        .intersect_range(domains[d.target])
        for d in dependences(program)
        if d.source in domains and d.target in domains
    }
    found = []
    for dependence, relation in inside.items():
        direct = relation.subtract(_implied(dependence, inside, relation))
        source, target = program.statement(dependence.source), program.statement(dependence.target)
        found.append(Pairs(dependence, _enumerated(direct, source.dims, target.dims, keep, limit)))
    return tuple(found)


_IMPLY: dict[DependenceKind, frozenset[str]] = {
    "reduction": frozenset({"reduction"}),
    "flow": frozenset({"flow", "reduction"}),
    "anti": frozenset({"flow", "anti", "output", "reduction"}),
    "output": frozenset({"flow", "anti", "output", "reduction"}),
}


def _implied(dependence: Dependence, inside: dict[Dependence, isl.Map], relation: isl.Map) -> isl.Map:
    """Pairs that two steps over another instance connect."""
    result = relation.subtract(relation)
    for first, a in inside.items():
        for second, b in inside.items():
            ends = first.source == dependence.source and second.target == dependence.target
            if ends and first.target == second.source and {first.kind, second.kind} <= _IMPLY[dependence.kind]:
                result = result.union(a.apply_range(b))
    return result


def _enumerated(
    relation: isl.Map, source: Dims, target: Dims, keep: Collection[str] | None, limit: int
) -> tuple[tuple[Point, Point], ...]:
    length = sum(keep is None or d in keep for d in source)
    flat = _projected(relation.wrap().flatten(), (*source, *target), keep)
    return tuple((p[:length], p[length:]) for p in unpack.points(flat, limit))


def _projected(points: isl.Set, dims: Dims, keep: Collection[str] | None) -> isl.Set:
    for position in reversed(range(len(dims))):
        if keep is not None and dims[position] not in keep:
            points = points.project_out(isl.dim.set, position, 1)
    return points


def _domain(program: Program, statement: ProgramStatement, sizes: Mapping[str, int], window: int | None) -> isl.Set:
    missing = [name for name in program.symbols if name not in sizes]
    if missing:
        raise WorkbenchError(f"instances of {program.name} need a value for {', '.join(missing)}")
    domain = isl.parse_set(statement.domain).intersect_params(isl.parse_set(program.context))
    domain = fix_sizes(domain, {name: sizes[name] for name in program.symbols})
    if window is None or domain.is_empty():
        return domain
    for position in range(len(statement.dims)):
        lowest = unpack.python_int(domain.dim_min_val(position))
        domain = domain.upper_bound_val(isl.dim.set, position, isl.value(lowest + window - 1))
    return domain


@lru_cache(maxsize=1024)
@isl.guarded
def moving_dims(program: Program, dependence: Dependence) -> tuple[str, ...]:
    """Dims (by name, common to both statements) in which source and target of a dependence may differ."""
    source, target = program.statement(dependence.source), program.statement(dependence.target)
    relation = isl.parse_map(dependence.relation)
    common = [d for d in source.dims if d in target.dims]
    return tuple(d for d in common if not relation.is_subset(_equal(program, source, target, d)))


def _equal(program: Program, source: ProgramStatement, target: ProgramStatement, dim: str) -> isl.Map:
    pair = f"{instance(source)} -> {instance(target, primed=True)}"
    return isl.parse_map(f"{prefix(program)}{{ {pair} : {to_isl(dim)} = {dim}' }}")


@lru_cache(maxsize=1024)
@isl.guarded
def relation_text(program: Program, dependence: Dependence) -> str:
    """The instances a dependence connects, without what the domains and the context say already.

    `S0[m, n] -> S1[m, n, k']`: a coordinate of the target is an expression over the source's dims, or free (primed);
    several cases are joined by `;`, conditions follow a colon.
    """
    relation = isl.parse_map(dependence.relation)
    ends = (isl.parse_set(program.statement(s).domain) for s in (dependence.source, dependence.target))
    known = isl.Map.from_domain_and_range(*ends).intersect_params(isl.parse_set(program.context))
    text = str(relation.gist(known).coalesce())
    inner = text[text.index("{") + 1 : text.rindex("}")].strip()
    return _DEFINED.sub(r"\1", inner)


_DEFINED = re.compile(r"\w+'+ = ([^,\]]+)")


# -- The elements of an array that the instances of a statement may touch, one by one --

@isl.guarded
def touched_elements(
    program: Program, statement: str, array: str, sizes: Mapping[str, int], limit: int = 300_000
) -> frozenset[int]:
    """Places, counted from the array's first element, that a statement (by id) may read or write at these sizes.

    Where data choose the element, every one they could choose is among them.  `sizes` binds the symbols of the
    program; WorkbenchError for more than `limit` places.
    """
    own, target = program.statement(statement), program.arrays[array]
    known = {**program.sizes, **sizes}
    lower = [fold(e, known) for e in target.lower]
    strides = [fold(e, known) for e in target.strides]
    domain = isl.parse_set(own.domain)
    found: set[int] = set()
    for access in own.accesses:
        if access.array == array:
            cells = fix_sizes(isl.parse_map(access.relation).intersect_domain(domain).range(), dict(sizes))
            for point in unpack.points(cells, limit):
                found.add(sum((x - low) * step for x, low, step in zip(point, lower, strides, strict=True)))
    return frozenset(found)
