"""Time tiles: stencils that sweep over more than a cache holds, several sweeps at a time.

    for t: { for i: B = f(A);  for i: A = g(B) }
    → for t_o, i_o (skewed): for t_i: { for i_i: B = f(A);  for i_i: A = g(B) }

A block of rows is loaded once for some sweeps; the blocks of one wavefront do not depend on one another and go to
different threads (Wolf and Lam 1991, Bondhugula et al. 2008).
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

from workbench import poly
from workbench.poly.advances import shifts
from workbench.poly.tree import Band, Leaf, Sequence, Tree, statements
from workbench.records import record
from workbench.schedules.recipes.attempt import attempt, dim_of, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import add_unit_loop, distribute, interchange, merge, parallelize, shift, skew, tile
from workbench.schedules.structure import structure, swept
from workbench.schedules.transform import Transform
from workbench.target import Target

MOST_STATEMENTS = 8
LARGEST_FACTOR = 3
SWEEPS = 4
"""Fewer sweeps over the data are not worth their blocks."""


@record
class TimeTiles:
    """Blocks of `sweeps` by `rows`; `groups` are the statements (ids) that share loops, with what delays them.

    `loops` are the names of each group's space loop (None where it gets one of one iteration), `time` that of the loop
    around.
    """

    time: str
    groups: tuple[tuple[str, ...], ...]
    loops: tuple[str | None, ...]
    delays: tuple[int, ...]
    factor: int
    sweeps: int
    rows: int


def time_tiled(schedule: Schedule, target: Target) -> Schedule:
    """Every stencil with time tiles, where they pay and are legal."""
    for nest in top(schedule.tree):
        plan = time_tiles(schedule, nest, target)
        if plan is not None:
            schedule = _scheduled(schedule, plan)
    return schedule


def time_tiles(schedule: Schedule, nest: Tree, target: Target) -> TimeTiles | None:
    """The blocks of a nest, or None if it is no stencil or its data stay in a cache anyway."""
    program, own = schedule.program, statements(nest)
    if not isinstance(nest, Band) or nest.loops[0].kind != "serial" or len(own) > MOST_STATEMENTS:
        return None
    inner = _groups(nest)
    time = {s: dim_of(nest, 0, s) for s in own}
    space = _space(inner)
    if any(time[s] not in program.statement(s).dims[:1] or not swept(structure(program, s)) for s in own):
        return None
    if space is None:
        return None
    trips = [structure(program, s).trip(d or "") for s, d in time.items()]
    size, row = _bytes(schedule, time, space)
    if None in trips or min(t or 0 for t in trips) < SWEEPS or size <= target.cache_bytes[1]:
        return None
    if poly.can_parallelize(program, schedule.tree, f"{program.statement(own[-1]).name}/{nest.loops[0].name}"):
        return None
    return _blocks(schedule, nest, inner, row, target)


def _space(inner: tuple[Band, ...]) -> dict[str, str | None] | None:
    """The dim of each statement that its blocks divide; None for one that stands a loop less deep, alone."""
    deepest = max((len(band.loops) for band in inner), default=0)
    found: dict[str, str | None] = {}
    for band in inner:
        own, flat = statements(band), len(band.loops) < deepest and isinstance(band.child, Leaf)
        dims = [dim_of(band, 0, s) for s in own]
        if None in dims:
            return None
        found |= dict.fromkeys(own) if flat else dict(zip(own, dims, strict=True))
    return found if any(d is not None for d in found.values()) else None


def _groups(nest: Band) -> tuple[Band, ...]:
    """What the loop over time repeats, if each part begins with a loop of its own."""
    if len(nest.loops) > 1:
        return (Band(nest.loops[1:], nest.child),)
    parts = nest.child.children if isinstance(nest.child, Sequence) else (nest.child,)
    bands = tuple(p for p in parts if isinstance(p, Band))
    return bands if len(bands) == len(parts) else ()


def _blocks(schedule: Schedule, nest: Band, inner: tuple[Band, ...], row: int, target: Target) -> TimeTiles | None:
    """Blocks that fill the second cache, with the smallest skew that makes them legal."""
    time = {s: dim_of(nest, 0, s) or "" for s in statements(nest)}
    space = _space(inner) or {}
    for factor in range(1, LARGEST_FACTOR + 1):
        delays = shifts(schedule.program, time, space, factor)
        if delays is None:
            continue
        groups = tuple(statements(band) for band in inner)
        if any(len({delays[s] for s in group}) > 1 for group in groups):
            return None
        rows = target.cache_bytes[1] * 5 // 4 // row // 2 // 4 * 4
        sweeps = rows // factor
        if rows < 4 or sweeps < 2 or any(2 * rows > _trip(schedule, s, d) for s, d in space.items() if d):
            return None
        loops = tuple(
            None if space[group[0]] is None else b.loops[0].name for b, group in zip(inner, groups, strict=True)
        )
        each = tuple(delays[group[0]] for group in groups)
        return TimeTiles(nest.loops[0].name, groups, loops, each, factor, sweeps, rows)
    return None


def _trip(schedule: Schedule, statement: str, dim: str) -> int:
    return structure(schedule.program, statement).trip(dim) or 0


def _bytes(schedule: Schedule, time: dict[str, str | None], space: dict[str, str | None]) -> tuple[int, int]:
    """(bytes that one sweep touches, bytes of them along one step in space)."""
    rows: dict[str, tuple[int, int]] = {}
    for s, dim in space.items():
        shape = structure(schedule.program, s)
        for touch in (*shape.writes, *shape.reads):
            stride = touch.along(dim) if dim else 0
            extents = [shape.trip(d) for d in shape.statement.dims if d != time[s] and touch.along(d)]
            if stride is None or any(n is None for n in extents):
                return 0, 1
            width = schedule.program.arrays[touch.array].dtype.bytes
            size, step = prod(n or 1 for n in extents) * width, abs(stride) * width
            known = rows.get(touch.array, (0, 0))
            rows[touch.array] = max(known[0], size), max(known[1], step)
    return sum(size for size, _ in rows.values()), max(1, sum(step for _, step in rows.values()))


def _scheduled(schedule: Schedule, plan: TimeTiles) -> Schedule:
    """The blocks, in wavefronts where that is legal; unchanged if they are not."""
    groups = [[schedule.program.statement(s).name for s in group] for group in plan.groups]
    names, every = [group[0] for group in groups], [name for group in groups for name in group]
    first, t, common = names[0], plan.time, next(x for x in plan.loops if x is not None)
    steps: list[Transform] = [distribute(name, loop=t) for name in names[1:]]
    for group, own, delay in zip(groups, plan.loops, plan.delays, strict=True):
        steps += [] if own else [add_unit_loop(group[0], 1, name=common)]
        for name in group:
            loop = f"{name}/{own or common}"
            steps += [skew(loop, by=f"{name}/{t}", factor=plan.factor), *([shift(loop, delay)] if delay else [])]
    steps += [merge(a, b, depth=2) for a, b in pairwise(names)]
    i = plan.loops[0] or common
    steps.append(tile({f"{first}/{t}": plan.sweeps, f"{first}/{i}": plan.rows}))
    steps += [distribute(name, loop=f"{i}_i") for name in names[1:]]
    waves: list[Transform] = [skew(f"{name}/{i}_o", by=f"{name}/{t}_o") for name in every]
    waves += [interchange(f"{first}/{i}_o", f"{first}/{t}_o"), parallelize(f"{first}/{t}_o")]
    after = attempt(schedule, *steps, *waves)
    return attempt(schedule, *steps) if after is schedule else after
