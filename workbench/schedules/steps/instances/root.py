"""`root`: an array is computed in a nest of its own again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.derive.recomputation import writers
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, path, restrict, statements
from workbench.poly.sets.injectivity import determines
from workbench.poly.time.timemap import row
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import normal
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.producers import defining
from workbench.schedules.transform import Transform


@record
class Root(Transform):
    """Take a producer out of the nest it shares, into one of its own before it.

    before → after:  for o: { T(o) = …;  C(o) = T(o) … }   →   for o: T(o) = …;  for o: C(o) = T(o) …

    An order step, Halide's compute_root: undoes merge and `compute_at(..., recompute=False)`.
    """

    name: ClassVar[str] = "root"
    producer: str

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        own = defining(program, self.producer)
        ids = {s.id for s in own}
        local = [t for s in own for t, _ in s.targets if program.arrays[t].scope == "local"]
        if local:
            raise ScheduleError(
                f"{self}: {local[0]} belongs to the iterations of the loops around it; leave out the step that made "
                f"it: schedule.without(...)"
            )
        nests = tree.children if isinstance(tree, Sequence) else (tree,)
        holding = [i for i, nest in enumerate(nests) if ids & set(statements(nest))]
        if all(set(statements(nests[i])) <= ids for i in holding):
            raise ScheduleError(f"{self}: {self.producer} is computed in a nest of its own already")
        taken = restrict(tree, ids)
        assert taken is not None
        rest = [restrict(nest, set(statements(nest)) - ids) for nest in nests]
        before = [nest for nest in rest[: holding[0]] if nest is not None]
        after = [nest for nest in rest[holding[0] :] if nest is not None]
        return schedule.with_tree(normal(Sequence((*before, needed(program, taken), *after))), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Root]:
        program, tree = schedule.program, schedule.tree
        for nest in tree.children if isinstance(tree, Sequence) else (tree,):
            inside = set(statements(nest))
            for array in dict.fromkeys(t for s in inside for t, _ in program.statement(s).targets):
                own = {s.id for s in writers(program, array)}
                if program.arrays[array].scope != "local" and not inside <= own:
                    yield cls(array)

    def __str__(self) -> str:
        return f"root({self.producer!r})"


def needed(program: Program, tree: Tree) -> Tree:
    """The tree without outer loops that the inner ones make superfluous: they visit every instance once already."""
    match tree:
        case Band(loops, child) if all(_determined(program, tree, s) for s in statements(tree)):
            return needed(program, Band(loops[1:], child) if len(loops) > 1 else child)
        case Mark(note, child):
            return Mark(note, needed(program, child))
    return tree


def _determined(program: Program, tree: Tree, identifier: str) -> bool:
    """Whether a statement's instances are told apart without the outermost loop."""
    s = program.statement(identifier)
    return determines(tuple(row(loop, s, program) for loop in path(tree, identifier)[1:]), s.dims)


@takes_choices
def root(producer: str, /) -> Root:
    """Compute `producer` (an array or one statement) in a nest of its own, before the nest it stands in."""
    return Root(producer)
