"""Recomputation where values are needed: each iteration of some loops gets instances and arrays of its own.

    for i: T(i) = f(i);  for o: for j: C(o, j) = T(o + j)
→   for o: { for i: T_local(o, i) = f(i);  for j: C(o, j) = T_local(o, o + j) }

The new instances bear the iteration they are computed for, `T_local(o, i)`; they stand for `T(i)` of the program
before, many of them for one where what different iterations need overlaps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

from workbench.lang.dtypes import INT32
from workbench.lang.expr import Const, Expr, Index, Read, substitute, transform
from workbench.poly.dependence.flow import flows
from workbench.poly.derive.deriving import Body, body_of, changed, fresh_ids, statement
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree
from workbench.poly.regions.regions import Around
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl, unique
from workbench.poly.time.timemap import instance, prefix, row_text
from workbench.records import record

ROUNDS = 4


@record
class Group:
    """What is computed together: arrays, and every statement that writes one of them."""

    arrays: tuple[str, ...]
    statements: tuple[ProgramStatement, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the statements."""
        return tuple(s.id for s in self.statements)


@record
class Copy:
    """A statement computed anew: `renamed` maps the dims it had to those it has now."""

    before: ProgramStatement
    after: ProgramStatement
    renamed: Mapping[str, str]
    needed: isl.Map  # iterations to the instances before


@record
class Recomputed:
    """`copies` of the group's statements write `arrays`, and `users` read them; `times` are the iteration's names."""

    arrays: tuple[Array, ...]
    copies: tuple[Copy, ...]
    users: tuple[ProgramStatement, ...]
    times: tuple[str, ...]

    @property
    def ids(self) -> dict[str, str]:
        """Ids before to ids after."""
        return {c.before.id: c.after.id for c in self.copies}


def writers(program: Program, array: str) -> list[ProgramStatement]:
    """The statements that define an array."""
    return [s for s in program.statements if any(a.array == array for a in s.writes)]


def readers(program: Program, array: str) -> list[ProgramStatement]:
    """The statements that use an array's values (not only to update them)."""
    return [s for s in program.statements if any(a.array == array and not a.accumulates for a in s.reads)]


def group_of(program: Program, array: str) -> Group:
    """An array with what is written together with it, and the local arrays that serve nothing else."""
    arrays = [array]
    while True:
        own = [s for s in program.statements if any(a.array in arrays for a in s.writes)]
        ids = {s.id for s in own}
        more = [a.array for s in own for a in s.writes if a.array not in arrays]
        for name in {a.array for s in own for a in s.reads if program.arrays[a.array].scope == "local"}:
            if name not in arrays and all(r.id in ids for r in readers(program, name)):
                more.append(name)
        if not more:
            return Group(tuple(arrays), tuple(own))
        arrays += dict.fromkeys(more)


@isl.guarded
def recomputed(
    program: Program,
    tree: Tree,
    group: Group,
    users: tuple[str, ...],
    depth: int,
    names: Mapping[str, str],
    *,
    exactly: bool = False,
) -> Recomputed:
    """The group computed anew in every iteration of the `depth` loops around the users (ids), as far as they need it.

    `names` gives each array of the group the name of its local one.  What is needed is rounded up to convex sets,
    unless `exactly`.
    """
    around = Around(program, tree, depth)
    own = [program.statement(s) for s in users]
    loops = around.loops(own[0].id)
    times = iteration_names(program, loops)
    local = {a: local_array(program.arrays[a], names[a], len(times)) for a in group.arrays}
    arrays = {**program.arrays, **{a.name: a for a in local.values()}}
    instances = needed(around, group, own, exactly=exactly)
    live = [s for s in group.statements if s.id in instances]
    made = zip(live, fresh_ids(program, len(live)), strict=True)
    copies = tuple(_copy(program, arrays, local, s, i, times, instances[s.id]) for s, i in made)
    changed_users = tuple(
        changed(program, arrays, s, localised(body_of(s), local, around.rows(s), own_writes=False)) for s in own
    )
    return Recomputed(tuple(local.values()), copies, changed_users, times)


def iteration_names(program: Program, loops: tuple[Loop, ...]) -> tuple[str, ...]:
    """Names for an iteration of these loops, none of them a size's."""
    taken = {*program.symbols, *program.sizes}
    found = []
    for loop in loops:
        found.append(unique(loop.name, taken))
        taken.add(found[-1])
    return tuple(found)


def local_array(array: Array, name: str, depth: int) -> Array:
    """A local array with the cells of another for each iteration of `depth` loops."""
    lower = (*(Const(0, INT32) for _ in range(depth)), *array.lower)
    extent = (*(Const(1 << 31, INT32) for _ in range(depth)), *array.extent)
    strides = tuple(Const(0, INT32) for _ in lower)
    return Array(name, array.dtype, lower, extent, strides, "temporary", False, "local", depth)


def needed(around: Around, group: Group, users: list[ProgramStatement], *, exactly: bool) -> dict[str, isl.Map]:
    """For each statement of the group: iterations to the instances whose values they need.

    Unless `exactly`, the instances of an iteration are rounded up to convex sets, which are simpler to visit.
    """
    through = flows_through(around.program, group.arrays)
    found: dict[str, isl.Map] = {}
    for user in users:
        direct = around.times(user).reverse()
        for source, target, relation in through:
            if target == user.id and source in group.ids:
                _add(found, source, direct.apply_range(relation.reverse()))
    for _ in range(ROUNDS if found else 0):
        found = {s: m if exactly else _convex(around, s, m) for s, m in found.items()}
        grown = dict(found)
        for source, target, relation in through:
            if source in group.ids and target in found:
                _add(grown, source, found[target].apply_range(relation.reverse()))
        if all(s in found and m.is_subset(found[s]) for s, m in grown.items()):
            return found
        found = grown
    return _everything(around, group, found) if found else {}


def flows_through(program: Program, arrays: tuple[str, ...]) -> list[tuple[str, str, isl.Map]]:
    """(source, target, instances to those that use their values) of everything that goes through some arrays."""
    return [
        (d.source, d.target, isl.parse_map(d.relation).intersect_params(isl.parse_set(program.context)))
        for array in arrays
        for d in flows(program, array)
    ]


def _add(found: dict[str, isl.Map], statement: str, more: isl.Map) -> None:
    if not more.is_empty():
        found[statement] = found[statement].union(more).coalesce() if statement in found else more.coalesce()


def _convex(around: Around, identifier: str, instances: isl.Map) -> isl.Map:
    if instances.n_basic_map() < 2:
        return instances
    domain = isl.parse_set(around.program.statement(identifier).domain)
    hull = isl.Map.from_basic_map(instances.simple_hull()).intersect_range(domain)
    return hull.intersect_domain(instances.domain())  # the hull may have lost a bound of the iterations


def _everything(around: Around, group: Group, found: dict[str, isl.Map]) -> dict[str, isl.Map]:
    """Every instance in every iteration that needs any."""
    iterations = reduce(isl.Set.union, [m.domain() for m in found.values()])
    domains = {s.id: isl.parse_set(s.domain) for s in group.statements}
    return {s: isl.Map.from_domain_and_range(iterations, d) for s, d in domains.items()}


def _copy(
    program: Program,
    arrays: Mapping[str, Array],
    local: Mapping[str, Array],
    s: ProgramStatement,
    identifier: str,
    times: tuple[str, ...],
    wanted: isl.Map,
) -> Copy:
    taken = {*times, *program.symbols, *program.sizes, *s.dims}
    renamed = {d: unique(d, taken) if d in times else d for d in s.dims}
    dims = (*times, *renamed.values())
    body = _renamed(body_of(s), renamed)
    body = localised(body, local, tuple(Index(t, INT32) for t in times), own_writes=True)
    inside = ", ".join(map(to_isl, dims))
    own = ", ".join(map(to_isl, renamed.values()))
    origin = isl.parse_map(f"{prefix(program)}{{ {identifier}[{inside}] -> {s.id}[{own}] }}")
    instances = wanted.wrap().flatten().set_tuple_name(identifier)
    made = statement(
        program, arrays, (identifier, _name(s, local)), (dims, instances), body, "computes", origin
    )
    return Copy(s, made, renamed, wanted)


def _name(s: ProgramStatement, local: Mapping[str, Array]) -> str:
    """The statement's name with its array's local name in it."""
    for array, _ in s.targets:
        if s.name == array or s.name.startswith(f"{array}."):
            return local[array].name + s.name[len(array) :]
    return f"{s.name}_local"


def _renamed(body: Body, names: Mapping[str, str]) -> Body:
    """The body over other dims."""
    dims: dict[str, Expr] = {old: Index(new, INT32) for old, new in names.items() if old != new}
    if not dims:
        return body
    targets = tuple((t, tuple(substitute(e, dims) for e in subscripts)) for t, subscripts in body.targets)
    return replace(body, targets=targets, values=tuple(substitute(v, dims) for v in body.values))


def localised(body: Body, local: Mapping[str, Array], times: tuple[Expr, ...], *, own_writes: bool) -> Body:
    """The body with the local arrays' cells of an iteration instead of the arrays'; its targets too, if they are."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor in local:
            return Read(local[node.tensor].name, (*times, *node.subscripts), node.dtype)
        return node

    targets = tuple((t, tuple(transform(e, change) for e in subscripts)) for t, subscripts in body.targets)
    if own_writes:
        targets = tuple((local[t].name, (*times, *e)) if t in local else (t, e) for t, e in targets)
    text = re.sub(r"\w+", lambda found: local[found[0]].name if found[0] in local else found[0], body.text)
    return replace(body, targets=targets, values=tuple(transform(v, change) for v in body.values), text=text)


@isl.guarded
def stands_still(program: Program, loop: Loop, wanted: Mapping[str, isl.Map]) -> bool:
    """Whether a loop has a single value in each iteration; `wanted` maps iterations to instances of its statements."""
    found = []
    for s, instances in wanted.items():
        own = program.statement(s)
        rows = f"{prefix(program)}{{ {instance(own)} -> [{row_text(loop, own, program)}] }}"
        found.append(instances.apply_range(isl.parse_map(rows)))
    return reduce(isl.Map.union, found).is_single_valued()
