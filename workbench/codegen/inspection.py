"""`rewrites`: the nest before and after every named rewrite, each node with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from workbench.codegen.generation import as_target
from workbench.codegen.nest import Define, For, Nest
from workbench.codegen.nest import walk as walk_nest
from workbench.codegen.nest_text import nest_lines
from workbench.codegen.pipeline import REWRITES, rewritten
from workbench.errors import CodegenError, shown
from workbench.poly.tree import loops
from workbench.records import record
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.schedules import Schedule
    from workbench.schedules.transform import Transform


@record
class Rewriting:
    """One rewrite of one nest: its name, what it does, the nest before and after.

    `statements` gives the names of the statements by id.
    """

    name: str
    does: str
    before: Nest
    after: Nest
    statements: Mapping[str, str]

    @property
    def changed(self) -> bool:
        """Whether it did anything here."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff of the two nests, empty if nothing changed."""
        old, new = (nest_lines(n, self.statements) for n in (self.before, self.after))
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
        start = [f"nest of {self.program}", *nest_lines(self.steps[0].before, self.steps[0].statements)]
        known = dict.fromkeys(filter(None, map(self.origin, walk_nest(self.steps[-1].after))))
        loops_ = ["loops", *(f"  {text}" for text in known)] if known else []
        return "\n".join([*start, "", *(f"{step}\n" for step in self.steps), *loops_]).rstrip()


def _made(loop: str, step: int, trace: tuple[Any, ...]) -> str:
    return f"{loop}, made by step {step + 1}: {trace[step]}"


def rewrites(schedule: Schedule, /, target: str | Target = "c") -> Rewritings:
    """Every rewrite on the way from a schedule's loops to the printed nest, before and after.

    A rewrite chooses spelling only: each nest executes the same instances in an order the schedule allows.
    """
    if not hasattr(schedule, "trace"):
        raise CodegenError(f"rewrites takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
    nests = rewritten(schedule.program, schedule.tree, as_target(target))
    names = {s.id: s.name for s in schedule.program.statements}
    pairs = zip(REWRITES, nests[:-1], nests[1:], strict=True)
    steps = tuple(Rewriting(r.name, r.does, before, after, names) for r, before, after in pairs)
    return Rewritings(schedule.program.name, steps, made_by(schedule), schedule.trace)


def made_by(schedule: Schedule) -> dict[str, int | None]:
    """For every loop of the tree the place in the trace of the step that made it; None: the naive order has it."""
    after = schedule.start
    found: dict[str, int | None] = {loop.name: None for loop in loops(after.tree)}
    for place, step in enumerate(schedule.trace):
        after = step.apply(after)
        names = {loop.name for loop in loops(after.tree)}
        found = {name: found.get(name, place) for name in names}
    return found
