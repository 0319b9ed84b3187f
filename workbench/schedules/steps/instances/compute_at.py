"""`compute_at`: an array is computed inside a loop of the nest that reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import ClassVar

from workbench.errors import ScheduleError, shown
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Index, substitute
from workbench.poly.derive.deriving import derive, fresh_name
from workbench.poly.derive.recomputation import Copy, Recomputed, recomputed, stands_still
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path, restrict, statements
from workbench.poly.regions.storage import place_of
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import unique
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import normal, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.insertion import first_user, inserted_within
from workbench.schedules.steps.support.moving import moved_before
from workbench.schedules.steps.support.producers import Target, offers, require_known_cells, target, unthreaded
from workbench.schedules.transform import Transform


@record
class ComputeAt(Transform):
    """Compute, in every iteration of a loop, what that iteration reads of an array.

    before → after:  for i: T(i) = …;  for o: … T(o + j)   →   for o: { for i: T_local(i) = …;  … T_local(o + j) }

    What several iterations read is computed in each of them; `recomputed` says how much that is.  With
    `recompute=False` it is computed once, in the first iteration that reads it, and stays in the array.  With
    `keep=True` the array is also computed where it was, for those who read it elsewhere and for the caller.
    Legal when what the producer reads has not been overwritten in between.  (Halide's compute_at, with store_root for
    `recompute=False`; TVM's compute_at.)
    """

    name: ClassVar[str] = "compute_at"
    producer: str
    at: str
    recompute: bool = True
    keep: bool = False

    def apply(self, schedule: Schedule) -> Schedule:
        for flag, value in (("recompute", self.recompute), ("keep", self.keep)):
            if not isinstance(value, bool):
                raise ScheduleError(f"compute_at: {flag}={shown(value)} does not fit; expected True or False")
        place = target(schedule, self, self.producer, self.at)
        if not self.recompute:
            return moved_before(schedule, self, place)
        self._require_free(place)
        require_known_cells(self, place)
        return self._recomputed(schedule, place)

    def _require_free(self, place: Target) -> None:
        """Without `keep` the array vanishes: nobody else may want it."""
        if self.keep:
            return
        outputs = [a for a in place.group.arrays if a in place.program.outputs]
        if outputs:
            raise ScheduleError(
                f"{self}: {outputs[0]} is an output and must be computed where it is stored; keep=True computes it "
                f"there as well, recompute=False moves the computation"
            )
        if place.elsewhere:
            other = place.elsewhere[0].name
            raise ScheduleError(
                f"{self}: {other} reads {place.array} outside loop {self.at!r}; put {other} into the loop first, or "
                f"keep=True computes {place.array} for it where it is"
            )

    def _recomputed(self, schedule: Schedule, place: Target) -> Schedule:
        """The copies in the loop instead of the group; where no value is ever needed, everything stays as it is."""
        program, tree = schedule.program, schedule.tree
        taken = set(program.arrays)
        names = {}
        for array in place.group.arrays:
            names[array] = fresh_name(array if "_local" in array else f"{array}_local", taken)
            taken.add(names[array])
        made = recomputed(program, tree, place.group, place.users, place.depth, names)
        if not made.copies:
            return schedule.with_tree(tree, self)
        around = path(tree, place.users[0])[: place.depth]
        new = _nest(program, tree, made, {x.name for x in around})
        times = tuple(Index(t, INT32) for t in made.times)
        position = first_user(place.site, set(place.users))
        after = inserted_within(tree, place.site, position, new, {c.after.id: times for c in made.copies})
        derived = self._derived(program, after, place, made)
        kept = restrict(after, {s.id for s in derived.statements})
        assert kept is not None
        derived = derive(program, derived.statements, derived.arrays, normal(kept))
        for array in made.arrays:
            place_of(derived, normal(kept), array.name)
        return schedule.with_program(derived, normal(kept), self)

    def _derived(self, program: Program, tree: Tree, place: Target, made: Recomputed) -> Program:
        users = {s.id: s for s in made.users}
        gone = set() if self.keep else set(place.group.ids)
        own = tuple(users.get(s.id, s) for s in program.statements if s.id not in gone)
        arrays = {n: a for n, a in program.arrays.items() if self.keep or n not in place.group.arrays}
        arrays |= {a.name: a for a in made.arrays}
        return replace(program, statements=(*own, *(c.after for c in made.copies)), arrays=arrays)

    def recomputed(self, schedule: Schedule) -> Recomputation:
        """How many instances the step computes, on this schedule, and how many of them are different."""
        return recomputation(self.on(schedule).program)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[ComputeAt]:
        for offer in offers(schedule):
            where = spelt(schedule.program, schedule.tree, offer.site)
            yield cls(offer.array, where, keep=offer.keep)
            yield cls(offer.array, where, recompute=False)

    def __str__(self) -> str:
        once = "" if self.recompute else ", recompute=False"
        keep = ", keep=True" if self.keep else ""
        return f"compute_at({self.producer!r}, {self.at!r}{once}{keep})"


def _nest(program: Program, tree: Tree, made: Recomputed, taken: set[str]) -> Tree:
    """The loops the group had, without those that stand still in an iteration, around its copies."""
    copies = {c.before.id: c for c in made.copies}
    own = restrict(tree, set(copies))
    assert own is not None
    return normal(_copied(program, unthreaded(own), copies, taken))


def _copied(program: Program, tree: Tree, copies: Mapping[str, Copy], taken: set[str]) -> Tree:
    match tree:
        case Leaf(s):
            return Leaf(copies[s].after.id)
        case Mark(note, child):
            return Mark(note, _copied(program, child, copies, taken))
        case Sequence(children):
            return Sequence(tuple(_copied(program, child, copies, taken) for child in children))
        case Band(loops, child):
            below = [copies[s] for s in statements(tree)]
            kept = []
            for loop in loops:
                if not stands_still(program, loop, {c.before.id: c.needed for c in below}):
                    kept.append(_loop(loop, below, unique(loop.name, taken)))
                    taken = {*taken, kept[-1].name}
            return Band(tuple(kept), _copied(program, child, copies, taken))


def _loop(loop: Loop, copies: list[Copy], name: str) -> Loop:
    rows = (
        (c.after.id, substitute(loop.row(c.before.id), {old: Index(new, INT32) for old, new in c.renamed.items()}))
        for c in copies
    )
    return Loop(name, tuple(sorted(rows)), loop.kind)


@takes_choices
def compute_at(producer: str, loop: str, /, *, recompute: bool = True, keep: bool = False) -> ComputeAt:
    """Compute, in every iteration of `loop`, what that iteration reads of the array `producer`.

    `recompute=False` computes every value once, in the first iteration that reads it.  `keep=True` leaves the array
    computed where it was as well.
    """
    return ComputeAt(producer, loop, recompute, keep)


# -- How often a step computes the same thing --

@record
class Recomputation:
    """Of the instances a step made, `computed` in all stand for `needed` different ones of the program before."""

    computed: int
    needed: int

    @property
    def ratio(self) -> float:
        """How often each is computed; 1.0 when none is computed twice."""
        return self.computed / self.needed if self.needed else 1.0

    def __str__(self) -> str:
        return f"{self.computed} instances computed, {self.needed} needed ({self.ratio:.2f} times each)"


@isl.guarded
def recomputation(program: Program) -> Recomputation:
    """Instances of the statements that the last step computes anew; the sizes must be known."""
    if program.symbols:
        names = ", ".join(program.symbols)
        raise ScheduleError(f"the count depends on sizes left symbolic: {names}; give them to wb.schedule(op, ...)")
    computed, needed = 0, {}
    for s in program.statements:
        if s.part == "computes" and s.origin:
            instances = isl.parse_set(s.domain)
            computed += unpack.count(instances)
            image = instances.apply(isl.parse_map(s.origin))
            needed.setdefault(image.get_tuple_name(), []).append(image)
    return Recomputation(computed, sum(unpack.count(reduce(isl.Set.union, found)) for found in needed.values()))
