"""Time tiling: stencils that sweep over more than a cache holds, several sweeps at a time.

    for t: { for i: B = f(A);  for i: A = g(B) }
    → for t_o, i_o (skewed): for t_i: { for i_i: B = f(A);  for i_i: A = g(B) }

A block of rows is loaded once for some sweeps; the blocks of one wavefront do not depend on one another and go to
different threads (Wolf and Lam 1991, Bondhugula et al. 2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from workbench import poly
from workbench.poly.dependence.distances import least_delays
from workbench.poly.programs.loop_names import in_block, loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Sequence, Tree, statements
from workbench.records import record
from workbench.schedules.analysis.structure import structure, swept
from workbench.schedules.recipes.decisions import decide, sizes_near
from workbench.schedules.recipes.try_steps import attempt, dim_of, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import add_unit_loop, distribute, merge, parallelize, reorder, shift, skew, tile
from workbench.schedules.transform import Transform
from workbench.target import Target

MOST_STATEMENTS = 8
LARGEST_FACTOR = 3
SWEEPS = 4
"""Fewer sweeps over the data are not worth their blocks."""

LEAST = 4
"""Rows of a block, at least."""

ROWS = 8
"""Rows of a block that holds only a part of each, where rows are long."""


@record
class Axis:
    """One dimension of space in blocks of `size`: the name of each group's loop along it, and what delays the group.

    None is the loop of a group that gets one of one iteration.
    """

    loops: tuple[str | None, ...]
    delays: tuple[int, ...]
    size: int

    @property
    def common(self) -> str:
        """The name of the first group that has a loop."""
        return next(x for x in self.loops if x is not None)


@record
class TimeTiles:
    """Blocks of `sweeps` by the sizes of the axes; `groups` are the statements (ids) that share loops.

    `time` is the name of the loop around.
    """

    time: str
    groups: tuple[tuple[str, ...], ...]
    axes: tuple[Axis, ...]
    factor: int
    sweeps: int


def time_tiled(schedule: Schedule, target: Target) -> Schedule:
    """Every stencil with time tiles, where they pay and are legal."""
    for nest in top(schedule.tree):
        plan = time_tiles(schedule, nest, target)
        if plan is not None:
            schedule = _scheduled(schedule, plan)
    return schedule


def time_tiles(schedule: Schedule, nest: Tree, target: Target) -> TimeTiles | None:
    """The blocks of a nest, or None if it is no stencil, its data stay in a cache anyway, or each sweep has its own."""
    program, own = schedule.program, statements(nest)
    if not isinstance(nest, Band) or nest.loops[0].kind != "serial" or len(own) > MOST_STATEMENTS:
        return None
    inner = _groups(nest)
    time = {s: dim_of(nest, 0, s) for s in own}
    space = _space(inner)
    if any(time[s] not in program.statement(s).dims[:1] or not swept(structure(program, s)) for s in own):
        return None
    if space is None or any(_is_made_anew(program, s) for s in own):
        return None
    trips = [structure(program, s).trip(d or "") for s, d in time.items()]
    size, row = _bytes(schedule, time, space)
    if None in trips or min(t or 0 for t in trips) < SWEEPS or size <= target.cache_bytes[1]:
        return None
    if poly.can_parallelize(program, schedule.tree, loop_of(program.statement(own[-1]).name, nest.loops[0].name)):
        return None
    return _blocks(schedule, nest, inner, row, target)


def _is_made_anew(program: Program, statement: str) -> bool:
    """Whether a statement fills a buffer that each sweep has for itself: a block would need as many."""
    return any(program.arrays[touch.array].times == 1 for touch in structure(program, statement).writes)


def _space(inner: tuple[Band, ...], depth: int = 0) -> dict[str, str | None] | None:
    """The dim of each statement that its blocks divide; None for one that stands a loop less deep, alone."""
    deepest = max((len(band.loops) for band in inner), default=0)
    found: dict[str, str | None] = {}
    for band in inner:
        own, flat = statements(band), len(band.loops) < deepest and isinstance(band.child, Leaf)
        dims = [dim_of(band, depth, s) for s in own] if depth < len(band.loops) else [None]
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
    groups = tuple(statements(band) for band in inner)
    rows = target.cache_bytes[1] * 5 // 4 // row // 2 // 4 * 4
    name, usual = schedule.program.statement(groups[0][0]).name, rows
    rows = decide(f"{name}_time_rows", usual, lambda: sizes_near(usual, 4 * usual, unit=4, zero=True))
    for factor in range(1, LARGEST_FACTOR + 1):
        axes = [_axis(schedule, nest, inner, (0, rows, factor))]
        if rows < LEAST:  # part of a row at a time
            parts = target.cache_bytes[1] * 5 // 4 // (2 * ROWS) * _extent(schedule, inner) // row // 4 * 4
            axes = [_axis(schedule, nest, inner, plan) for plan in ((0, ROWS, factor), (1, parts, factor))]
        found = tuple(x for x in axes if x is not None)
        size = found[0].size if found else 0
        if len(found) == len(axes) and min(x.size for x in found) >= LEAST and size // factor >= 2:
            return TimeTiles(nest.loops[0].name, groups, found, factor, size // factor)
    return None


def _axis(schedule: Schedule, nest: Band, inner: tuple[Band, ...], plan: tuple[int, int, int]) -> Axis | None:
    """Blocks along the loops of a depth if each group moves as one and there are at least two of them."""
    depth, size, factor = plan
    time = {s: dim_of(nest, 0, s) or "" for s in statements(nest)}
    space = _space(inner, depth)
    delays = least_delays(schedule.program, time, space, factor) if space else None
    if not space or delays is None or (depth and None in space.values()):
        return None
    groups = [statements(band) for band in inner]
    if any(len({delays[s] for s in group}) > 1 for group in groups):
        return None
    if any(2 * size > _trip(schedule, s, d) for s, d in space.items() if d):
        return None
    loops = (None if space[g[0]] is None else b.loops[depth].name for b, g in zip(inner, groups, strict=True))
    return Axis(tuple(loops), tuple(delays[group[0]] for group in groups), size)


def _extent(schedule: Schedule, inner: tuple[Band, ...]) -> int:
    """Iterations along the second loop, 0 if there is none."""
    return max((_trip(schedule, s, d) for s, d in (_space(inner, 1) or {}).items() if d), default=0)


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
    first, t, i = names[0], plan.time, plan.axes[0].loops[0] or plan.axes[0].common
    steps: list[Transform] = [distribute(name, loop=t) for name in names[1:]]
    for number, group in enumerate(groups):
        steps += _delayed(plan, number, group)
    steps += [merge(a, b, depth=1 + len(plan.axes)) for a, b in pairwise(names)]
    sizes = {loop_of(first, x.loops[0] or x.common): x.size for x in plan.axes}
    steps.append(tile({loop_of(first, t): plan.sweeps, **sizes}))
    steps += [distribute(name, loop=in_block(i)) for name in names[1:]]
    wavefront: list[Transform] = [skew(loop_of(name, i).outer, by=loop_of(name, t).outer) for name in every]
    rows, sweeps = loop_of(first, i).outer, loop_of(first, t).outer
    wavefront += [reorder(rows, sweeps), parallelize(sweeps)]
    after = attempt(schedule, *steps, *wavefront)
    return attempt(schedule, *steps) if after is schedule else after


def _delayed(plan: TimeTiles, number: int, group: list[str]) -> Iterator[Transform]:
    """The steps that make a group's loops lag behind time."""
    for axis in plan.axes:
        own, delay = axis.loops[number], axis.delays[number]
        if own is None:
            yield add_unit_loop(group[0], 1, name=axis.common)
        for name in group:
            loop = loop_of(name, own or axis.common)
            yield skew(loop, by=loop.beside(plan.time), factor=plan.factor)
            if delay:
                yield shift(loop, delay)
