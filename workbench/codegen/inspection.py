"""`rewrites`: the nest before and after every named rewrite, each node with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, Protocol

from workbench.codegen.generation import as_target
from workbench.codegen.nest.nest import Define, For, Nest
from workbench.codegen.nest.nest import walk as walk_nest
from workbench.codegen.nest.nest_text import nest_lines
from workbench.codegen.passes.pipeline import REWRITES, rewritten
from workbench.errors import CodegenError, shown
from workbench.poly.programs.tree import loops
from workbench.records import record
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.codegen.cuda.grid.kernels import Grid
    from workbench.schedules import Schedule
    from workbench.schedules.transform import Transform

    Stage = Nest | Grid


class Named(Protocol):
    """A rewrite of either road."""

    @property
    def name(self) -> str: ...
    @property
    def does(self) -> str: ...


@record
class Rewriting:
    """One rewrite of one nest: its name, what it does, the nest before and after.

    On the way to a GPU the nest is that of a whole `Grid`, later those of its kernels.  `statements` gives the names of
    the statements by id.
    """

    name: str
    does: str
    before: Stage
    after: Stage
    statements: Mapping[str, str]

    @property
    def changed(self) -> bool:
        """Whether it did anything here."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff of the two nests, empty if nothing changed."""
        old, new = (stage_lines(n, self.statements) for n in (self.before, self.after))
        return "\n".join(unified_diff(old, new, "before", "after", n=2, lineterm=""))

    def __str__(self) -> str:
        title = f"{self.name}: {self.does}"
        return f"{title}\n{self.diff}" if self.changed else f"{title}\n(nothing to do here)"


@record
class Rewritings:
    """The road from loops to the nest that is printed: a sequence of `Rewriting`.

    `made_by` maps each loop of the schedule to the place in the trace of the step that made it; None for a loop of
    the naive order.
    """

    program: str
    steps: tuple[Rewriting, ...]
    made_by: Mapping[str, int | None]
    trace: tuple[Transform, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Rewriting]:
        return iter(self.steps)

    def __getitem__(self, which: int | str) -> Rewriting:
        """A rewrite by place or by name."""
        if isinstance(which, int):
            return self.steps[which]
        for step in self.steps:
            if step.name == which:
                return step
        raise CodegenError(f"no rewrite is named {shown(which)}; known: {', '.join(s.name for s in self.steps)}")

    def origin(self, node: Nest) -> str:
        """Where a loop of any of the nests comes from: `k_o, made by step 1: tile(k=16)`; empty for other nodes."""
        if not isinstance(node, For | Define) or not node.loop:
            return ""
        if node.loop not in self.made_by:
            return f"{node.loop}, made by a rewrite"
        step = self.made_by[node.loop]
        return f"{node.loop}, of the naive order" if step is None else _made(node.loop, step, self.trace)

    def __str__(self) -> str:
        start = [f"nest of {self.program}", *stage_lines(self.steps[0].before, self.steps[0].statements)]
        known = dict.fromkeys(filter(None, map(self.origin, nodes_of(self.steps[-1].after))))
        loops_ = ["loops", *(f"  {text}" for text in known)] if known else []
        return "\n".join([*start, "", *(f"{step}\n" for step in self.steps), *loops_]).rstrip()


def _made(loop: str, step: int, trace: tuple[Any, ...]) -> str:
    return f"{loop}, made by step {step + 1}: {trace[step]}"


def rewrites(schedule: Schedule, /, target: str | Target = "c") -> Rewritings:
    """Every rewrite on the way from a schedule's loops to the printed nest, before and after.

    A rewrite chooses spelling only: each nest executes the same instances in an order the schedule allows.  For a GPU
    they are the passes that make kernels; CodegenError where loops are not bound, or a limit of it is exceeded.
    """
    if not hasattr(schedule, "trace"):
        raise CodegenError(f"rewrites takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
    machine = as_target(target)
    passes, stages = _c_road(schedule, machine) if not machine.language.for_gpu else _gpu_road(schedule, machine)
    names = {s.id: s.name for s in schedule.program.statements}
    pairs = zip(passes, stages[:-1], stages[1:], strict=True)
    steps = tuple(Rewriting(r.name, r.does, before, after, names) for r, before, after in pairs)
    return Rewritings(schedule.program.name, steps, made_by(schedule), schedule.trace)


def _c_road(schedule: Schedule, machine: Target) -> tuple[Sequence[Named], tuple[Stage, ...]]:
    return REWRITES, rewritten(schedule.program, schedule.tree, machine)


def _gpu_road(schedule: Schedule, machine: Target) -> tuple[Sequence[Named], tuple[Stage, ...]]:
    from workbench.codegen.cuda.pipeline import GRID_PASSES, rewritten_grid  # who writes C does not wait for it

    return GRID_PASSES, rewritten_grid(schedule.program, schedule.tree, machine)


def stage_lines(stage: Stage, statements: Mapping[str, str]) -> list[str]:
    """A nest or a grid as text."""
    if not isinstance(stage, Nest):
        from workbench.codegen.cuda.grid.grid_text import grid_lines

        return grid_lines(stage, statements)
    return nest_lines(stage, statements)


def nodes_of(stage: Stage) -> Iterator[Nest]:
    """Every node of a nest, or of the nests of a grid."""
    if isinstance(stage, Nest):
        yield from walk_nest(stage)
    else:
        for nest in stage.nests:
            yield from walk_nest(nest)


def made_by(schedule: Schedule) -> dict[str, int | None]:
    """For every loop of the tree the place in the trace of the step that made it; None: the naive order has it."""
    after = schedule.start
    found: dict[str, int | None] = {loop.name: None for loop in loops(after.tree)}
    for place, step in enumerate(schedule.trace):
        after = step.apply(after)
        names = {loop.name for loop in loops(after.tree)}
        found = {name: found.get(name, place) for name in names}
    return found
