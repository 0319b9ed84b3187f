"""`split_reduction`: a reduction collects partial results, one an iteration of a loop, and adds them up at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Index, reads
from workbench.poly.derive.deriving import derive, fresh_name
from workbench.poly.derive.partials import adds_up, with_partials
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Tree, path, statements
from workbench.poly.regions.storage import place_of
from workbench.records import record
from workbench.schedules.arguments import name_pair, whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, at, find_loop, normal, put, require_new, rest_of, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.split import divided, half
from workbench.schedules.steps.support.block_sizes import dividing_sizes
from workbench.schedules.steps.support.insertion import behind, first_user, inserted_within
from workbench.schedules.transform import Transform

PARTS = (8,)


@record
class SplitReduction(Transform):
    """Give every iteration of a reduction loop (or of a loop over its blocks) a partial result of its own.

    before → after:  for k: C += …   →   for k_o: { C_rf(k_o) = 0;  for k_i: C_rf(k_o) += … };  for k_o: C += C_rf(k_o)

    Afterwards the iterations do not meet, so that the loop may run on threads.  The order of additions changes, as in
    every reordered reduction.  TVM's rfactor.
    """

    name: ClassVar[str] = "split_reduction"
    loop: str
    size: int | None = None
    names: tuple[str, str] | None = None

    @property
    def over(self) -> LoopName:
        """The loop whose iterations own the partial results."""
        return LoopName(self.loop) if self.size is None else half(self.loop, self.names, 0)

    @property
    def inner(self) -> LoopName:
        """The loop that adds up one partial result, where the step divided it."""
        return half(self.loop, self.names, 1)

    @property
    def adding(self) -> LoopName:
        """The loop that adds the partial results up."""
        return self.over.part("parts")

    def halves(self) -> tuple[tuple[LoopName, LoopName], ...]:
        loop = LoopName(self.loop)
        return () if self.size is None else ((loop, self.over), (loop, self.inner))

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        site = find_loop(program, tree, self.loop)
        users = reductions(program, tree, site)
        if not users:
            raise ScheduleError(f"{self}: loop {self.loop!r} adds nothing up; expected a loop of a reduction")
        if self.size is not None:
            tree, site = self._divided(tree, site)
        for user in users:
            tree, program = _split(program, tree, site, user)
            own = (s for s in sites(tree) if s.loop.name == site.loop.name and user.id in dict(s.loop.rows))
            site = next(own)
        return self._judged(schedule, program, tree)

    def _divided(self, tree: Tree, site: Site) -> tuple[Tree, Site]:
        assert self.size is not None
        outer, inner = divided(site.loop, self.size, self.names)
        require_new(tree, site, [outer.name, inner.name], [site.loop.name])
        own = site.band.loops
        new = Band((*own[: site.position], outer, inner, *own[site.position + 1 :]), site.band.child)
        return put(tree, site.path, new), Site(site.path, site.position, new)

    def _judged(self, schedule: Schedule, program: Program, tree: Tree) -> Schedule:
        """One reduction after another, each against the program before it."""
        line = [program]
        while line[0].parent is not None and line[0] is not schedule.program:
            line.insert(0, line[0].parent)
        after = schedule
        for derived in line[1:]:
            after = after.with_program(derived, tree, self)
        return replace(after, trace=(*schedule.trace, self))

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[SplitReduction]:
        for site in sites(schedule.tree):
            found = reductions(schedule.program, schedule.tree, site)
            if found and not any(a.array == t for s in found for t, _ in s.targets for a in _values(s)):
                name = spelt(schedule.program, schedule.tree, site)
                yield cls(name)
                yield from (cls(name, size) for size in dividing_sizes(schedule, site.loop, PARTS))

    def __str__(self) -> str:
        size = f", {self.size}" if self.size is not None else ""
        names = f", names={self.names!r}" if self.names else ""
        return f"split_reduction({self.loop!r}{size}{names})"


def reductions(program: Program, tree: Tree, site: Site) -> list[ProgramStatement]:
    """The updates of which several iterations of a loop make one to the same cell."""
    inside = rest_of(site)
    own = [program.statement(s) for s in statements(inside)]
    return [s for s in own if s.kind == "update" and adds_up(program, tree, s, _depth(tree, site, s))]


def _depth(tree: Tree, site: Site, s: ProgramStatement) -> int:
    return len(path(tree, s.id)) - len(path(rest_of(site), s.id))


def _band(tree: Tree, site: Site) -> Band:
    found = at(tree, site.path)
    assert isinstance(found, Band)
    return found


def _split(program: Program, tree: Tree, site: Site, user: ProgramStatement) -> tuple[Tree, Program]:
    user = program.statement(user.id)
    for array in {t for t, _ in user.targets}:
        _exact(program, user, array)
    taken = set(program.arrays)
    names = {}
    for array, _ in user.targets:
        names[array] = fresh_name(f"{array}_rf", taken)
        taken.add(names[array])
    made = with_partials(program, tree, user, _depth(tree, site, user), names)
    times = tuple(Index(t, INT32) for t in made.times)
    position = first_user(site, {user.id})
    tree = inserted_within(tree, site, position, _loops(made.neutral, made.cells), {made.neutral.id: times})
    site = Site(site.path, site.position, _band(tree, site))
    parts = Loop(LoopName(site.loop.name).part("parts").loop, ((made.combining.id, times[-1]),))
    combine = normal(Band((parts,), _loops(made.combining, made.cells)))
    after = behind(tree, site, combine, {made.combining.id: times[:-1]})
    own = tuple(made.user if s.id == user.id else s for s in program.statements)
    arrays = {**program.arrays, **{a.name: a for a in made.arrays}}
    derived = derive(program, (*own, made.neutral, made.combining), arrays, after)
    for array in made.arrays:
        place_of(derived, after, array.name)
    return after, derived


def _exact(program: Program, user: ProgramStatement, array: str) -> None:
    for a in user.accesses:
        if a.array != array:
            continue
        if a in _values(user):
            raise ScheduleError(f"{user.name} also reads {array}: there is no partial result to read")
        if any(program.arrays[r.tensor].role != "input" for r in reads(*a.subscripts)):
            raise ScheduleError(f"{user.name} adds to cells of {array} that the kernel itself computes")


def _values(s: ProgramStatement) -> list[Access]:
    return [a for a in s.reads if not a.accumulates]


def _loops(s: ProgramStatement, cells: tuple[str, ...]) -> Tree:
    """A loop for each dimension of the result."""
    loops = tuple(Loop(name, ((s.id, Index(name)),)) for name in cells)
    return Band(loops, Leaf(s.id)) if loops else Leaf(s.id)


@takes_choices
def split_reduction(
    loop: str, size: int | None = None, /, names: tuple[str, str] | None = None
) -> SplitReduction:
    """Partial results for every iteration of reduction loop `loop`, or for its blocks of `size` iterations.

    With a size the loop is divided as `split` does: `k` becomes `k_o`, whose iterations own the partial results, and
    `k_i` (or `names`).
    """
    if size is None and names is not None:
        raise ScheduleError("split_reduction: names= are those of the blocks and of what is inside; give a size too")
    return SplitReduction(loop, whole(size), None if names is None else name_pair(loop, names))
