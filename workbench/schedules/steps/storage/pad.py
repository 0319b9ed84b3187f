"""`pad`: partial tiles filled up with neutral elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from workbench.errors import ScheduleError
from workbench.poly.dependence.flow import reads_before_writes
from workbench.poly.derive.deriving import derive
from workbench.poly.derive.padding import with_tiles_filled
from workbench.poly.programs.tree import Band, Sequence, Tree, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import at, counts_blocks, find_loops, leaf_path, rest_of, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.dividing import depth_of, renamed, replaced
from workbench.schedules.steps.support.judged_against_now import with_program
from workbench.schedules.transform import Transform


@record
class Pad(Transform):
    """Make every tile inside some loops full: the instances that were missing work on neutral elements in the buffers.

    before → after:  for k_i < min(8, K - 8 k_o): C(m) += A_local(m, k) * x_local(k)
                     → A_local(m, k) = 0, x_local(k) = 0 for k >= K;  for k_i < 8: C(m) += A_local(m, k) * x_local(k)

    Tile loops get constant bounds without a test, at the price of computing more.  What the tiles touch must be in
    buffers (`stage`) as far as it would leave its array; both operands of a product are filled, since 0 * inf is NaN.
    The dual of `isolate`; TVM's pad_einsum.
    """

    name: ClassVar[str] = "pad"
    loops: tuple[str, ...]

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        if not self.loops:
            raise ScheduleError("pad: name the loops outside the tiles, such as pad('m_o', 'n_o')")
        last = max(find_loops(program, tree, self.loops), key=lambda s: depth_of(tree, s))
        try:
            made = with_tiles_filled(program, tree, statements(rest_of(last)), depth_of(tree, last))
        except ScheduleError as error:
            raise ScheduleError(f"{self}: {error}") from None
        new = renamed(tree, {s: (own.id,) for s, own in made.grown.items()})
        for first, fill in made.fills.items():
            new = _beside(new, made.grown[first].id if first in made.grown else first, fill.id)
        kept = tuple(made.grown.get(s.id, s) for s in program.statements)
        derived = derive(program, (*kept, *made.fills.values()), {**program.arrays, **made.arrays}, new)
        late = [f.targets[0][0] for f in made.fills.values() if reads_before_writes(derived, f.targets[0][0])]
        if late:
            raise ScheduleError(f"{self}: {late[0]} would be read before its neutral elements are there")
        return with_program(schedule, derived, new, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Pad]:
        for site in sites(schedule.tree):
            inside = {a.array for s in statements(rest_of(site)) for a in schedule.program.statement(s).accesses}
            if counts_blocks(site.loop) and any(schedule.program.arrays[a].scope == "local" for a in inside):
                yield cls((spelt(schedule.program, schedule.tree, site),))

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Pad:
        return pad(*arguments["loops"])

    def __str__(self) -> str:
        return f"pad({', '.join(map(repr, self.loops))})"


def _beside(tree: Tree, first: str, new: str) -> Tree:
    """The tree with a nest like that of one statement after it, for a new statement."""
    place = leaf_path(tree, first)
    while place and isinstance(at(tree, place[:-1]), Band) and statements(at(tree, place[:-1])) == (first,):
        place = place[:-1]
    nest = at(tree, place)
    both = Sequence((nest, renamed(nest, {first: (new,)})))
    return replaced(tree, place, both, {first: (first, new)})


@takes_choices
def pad(*loops: str) -> Pad:
    """Make every tile inside `loops` full; added instances work on neutral elements in the buffers."""
    return Pad(loops)
