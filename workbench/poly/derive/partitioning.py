"""Partitioning instances: those that a condition chooses, and those whose tiles are full."""

from __future__ import annotations

from functools import reduce

from workbench.errors import ScheduleError
from workbench.lang.expr import Expr, index_names
from workbench.poly.derive.deriving import body_of, fresh_ids, fresh_name, statement
from workbench.poly.programs.affine import ALWAYS, guard
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, path
from workbench.poly.sets import isl
from workbench.poly.time.timemap import domain_of, instance, prefix, row, row_text


@isl.guarded
def chosen_instances(program: Program, own: ProgramStatement, condition: Expr) -> isl.Set:
    """The instances of a statement for which a condition over its dims and the sizes holds."""
    text, exact = guard(condition)
    if not exact:
        raise ScheduleError("the condition is not affine in the indices and the sizes left symbolic")
    such = "" if text == ALWAYS else f" : {text}"
    return domain_of(program, own).intersect(isl.parse_set(f"{prefix(program)}{{ {instance(own)}{such} }}"))


@isl.guarded
def never(program: Program, own: ProgramStatement, condition: Expr) -> bool:
    """Whether a condition over its dims and the sizes holds for no instance of a statement."""
    return chosen_instances(program, own, condition).intersect_params(isl.parse_set(program.context)).is_empty()


@isl.guarded
def divided(
    program: Program, inside: dict[str, isl.Set], suffixes: tuple[str, str]
) -> dict[str, tuple[ProgramStatement | None, ProgramStatement | None]]:
    """Each statement (by id) as two: its instances in a set, and the others; None where there are none of a kind.

    A statement that is whole on one side stays what it is.
    """
    ids, taken = iter(fresh_ids(program, 2 * len(inside))), {s.name for s in program.statements}
    found: dict[str, tuple[ProgramStatement | None, ProgramStatement | None]] = {}
    for own in (program.statement(s) for s in inside):
        every = isl.parse_set(own.domain)
        first = every.intersect(inside[own.id])
        second = every.subtract(first)
        if not domain_of(program, own).subtract(first).is_empty() and not _empty(program, first):
            names = [fresh_name(f"{own.name}.{suffix}", taken) for suffix in suffixes]
            taken |= set(names)
            labels = [(next(ids), name) for name in names]
            found[own.id] = (_part(program, own, labels[0], first), _part(program, own, labels[1], second))
        else:
            found[own.id] = (None, own) if _empty(program, first) else (own, None)
    return found


def _empty(program: Program, points: isl.Set) -> bool:
    return points.intersect_params(isl.parse_set(program.context)).is_empty()


def _part(program: Program, own: ProgramStatement, label: tuple[str, str], points: isl.Set) -> ProgramStatement:
    origin = isl.Map.identity(points.get_space().map_from_set())
    return statement(program, program.arrays, label, (own.dims, points), body_of(own), "computes", origin)


@isl.guarded
def with_full_tiles(program: Program, tree: Tree, ids: tuple[str, ...], depth: int) -> dict[str, isl.Set]:
    """For each statement its instances in those iterations of the outer `depth` loops in which every loop inside takes
    all the values it ever takes: bounds are then the same in each of them.

    Loops inside that are no tiles (their time components are not bounded by themselves) may have other bounds in each
    iteration of the outer loops, as long as they do not depend on the other loops inside.
    """
    every = [Tiles(program, tree, program.statement(s), depth) for s in ids]
    outer = reduce(isl.Set.union, (t.outer for t in every))
    full = outer.subtract(reduce(isl.Set.union, (t.partial for t in every))).coalesce()
    return {t.statement.id: t.instances(full) for t in every}


@isl.guarded
def separate_instances(
    program: Program, tree: Tree, some: tuple[str, ...], every: tuple[str, ...], depth: int
) -> dict[str, isl.Set]:
    """The instances of some statements in those iterations of `depth` loops in which none of the others has any."""
    others = [s for s in every if s not in some]
    times = {s: Tiles(program, tree, program.statement(s), depth) for s in (*some, *others)}
    taken = [times[s].outer for s in others]
    free = {s: times[s].outer for s in some}
    if taken:
        busy = reduce(isl.Set.union, taken)
        free = {s: points.subtract(busy) for s, points in free.items()}
    return {s: times[s].instances(points) for s, points in free.items()}


class Tiles:
    """One statement inside `depth` loops: which of their iterations have full tiles inside.

    A tile is as large as its loops ever get, or, if they are to be `filled`, as they could get: `k % 4` of three k.
    """

    def __init__(
        self, program: Program, tree: Tree, own: ProgramStatement, depth: int, *, filled: bool = False
    ) -> None:
        self.filled = filled
        self.program, self.statement, self.depth = program, own, depth
        self.loops = path(tree, own.id)
        self.whole = self._map(self.loops)
        self.points = self.whole.intersect_domain(domain_of(program, own)).range()
        count = len(self.loops) - depth
        self.outer = self.points.project_out(isl.dim.set, depth, count)
        self.box = self._boxed()
        self.partial = self.box.subtract(self.points).project_out(isl.dim.set, depth, count)

    def instances(self, outer: isl.Set) -> isl.Set:
        """The instances in these iterations of the outer loops."""
        return self._map(self.loops[: self.depth]).intersect_range(outer).domain()

    def _map(self, loops: tuple[Loop, ...]) -> isl.Map:
        rows = ", ".join(row_text(x, self.statement, self.program) for x in loops)
        return isl.parse_map(f"{prefix(self.program)}{{ {instance(self.statement)} -> [{rows}] }}")

    def _boxed(self) -> isl.Set:
        """Every combination of values of the loops inside, for each iteration of the outer ones."""
        count = len(self.loops)
        found = self.outer.insert_dims(isl.dim.set, self.depth, count - self.depth)
        for together in self._kin():
            found = found.intersect(self._whole(together))
        return found

    def _kin(self) -> list[list[int]]:
        """The loops inside, those that walk along the same dims together (`k / 8` and `k % 8`)."""
        found: list[tuple[set[str], list[int]]] = []
        for position in range(self.depth, len(self.loops)):
            dims, positions = index_names(row(self.loops[position], self.statement, self.program)), [position]
            for other in [x for x in found if x[0] & dims]:
                found.remove(other)
                dims, positions = dims | other[0], sorted((*positions, *other[1]))
            found.append((dims, positions))
        return [positions for _, positions in found]

    def _whole(self, together: list[int]) -> isl.Set:
        """All values of some loops inside: those they ever take where they are tiles, else those in this iteration."""
        count = len(self.loops)
        others = [p for p in range(self.depth, count) if p not in together]
        if self.filled and self._is_tile(together):
            free = self._map(tuple(self.loops[p] for p in together)).range()
            free = free.project_out(isl.dim.param, 0, free.dim(isl.dim.param))
            for other in (p for p in range(count) if p not in together):
                free = free.insert_dims(isl.dim.set, other, 1)
            return free
        if self._is_tile(together):
            others = [*range(self.depth), *others]
        free = self.points
        for other in reversed(others):
            free = free.project_out(isl.dim.set, other, 1)
        if self._is_tile(together):
            free = free.project_out(isl.dim.param, 0, free.dim(isl.dim.param))
        for other in others:
            free = free.insert_dims(isl.dim.set, other, 1)
        return free

    def _is_tile(self, together: list[int]) -> bool:
        """Whether the loops are bounded whatever the dims are, as `m % 8` is."""
        alone = self._map(tuple(self.loops[p] for p in together)).range()
        ends = [end(p) for p in range(len(together)) for end in (alone.dim_min_val, alone.dim_max_val)]
        return all(end.is_int() for end in ends)
