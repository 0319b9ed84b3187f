"""`rewrites`: the nest before and after every named rewrite, each node with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from workbench.codegen.generation import as_target
from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Cell,
    Define,
    For,
    Hold,
    If,
    Invoke,
    Local,
    Nest,
    Place,
    Prefetch,
    Write,
)
from workbench.codegen.nest.nest import walk as walk_nest
from workbench.codegen.passes.pipeline import REWRITES, rewritten
from workbench.errors import CodegenError, shown
from workbench.lang.operator import Monoid
from workbench.lang.printing.printer import show
from workbench.poly.programs.tree import loops
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


# -- A nest as text: every node on its line, writes with the instance they execute --

INDENT = "  "


def nest_lines(nest: Nest, statements: Mapping[str, str]) -> list[str]:
    """The lines of a nest; `statements` gives the name of each statement by id."""
    match nest:
        case Block(body):
            return [line for part in body for line in nest_lines(part, statements)]
        case Write():
            return [_write(nest, statements)]
        case For():
            return [_loop(nest), *_inside(nest.body, statements)]
        case If(condition, then, otherwise):
            lines = [f"if {show(condition)}", *_inside(then, statements)]
            return lines if otherwise is None else [*lines, "else", *_inside(otherwise, statements)]
        case Define(variable, value, body):
            return [f"{variable} is {show(value)}", *_inside(body, statements)]
        case Hold(name, value, body):
            return [f"hold {name} = {show(value)}", *_inside(body, statements)]
        case Place(array, body):
            return [f"place {array}", *_inside(body, statements)]
        case Prefetch(cells, body, rows):
            each = f", {rows[0]} < {rows[1]}" if rows else ""
            return [f"prefetch {', '.join(map(_cell, cells))}{each}", *_inside(body, statements)]
        case Accumulate(locals_, _, body, _):
            return [f"registers {', '.join(map(_local, locals_))}", *_inside(body, statements)]
        case Invoke(kernel, arrays, sizes, body):
            given = [f"&{_cell(c)}" for c, _ in arrays] + [show(e) for e in sizes]
            return [f"call {kernel}({', '.join(given)}), which does", *_inside(body, statements)]


def _inside(nest: Nest, statements: Mapping[str, str]) -> list[str]:
    return [INDENT + line for line in nest_lines(nest, statements)]


def _write(write: Write, statements: Mapping[str, str]) -> str:
    name = statements.get(write.statement, write.statement)
    label = f"{name}({', '.join(map(show, write.instance))})"
    cells, values = ", ".join(map(_cell, write.cells)), ", ".join(map(show, write.values))
    match write.reduction:
        case None:
            return f"{label}: {cells} = {values}"
        case Monoid(name=reduction) | reduction:
            return f"{label}: {'atomic ' if write.atomic else ''}{cells} {reduction}= {values}"


def _loop(loop: For) -> str:
    step = "" if loop.step == 1 else f" step {loop.step}"
    notes = [f"loop {loop.loop}"] if loop.loop not in ("", loop.variable) else []
    notes += [] if loop.kind == "serial" else [loop.kind]
    notes += [f"{loop.lanes} lanes"] if loop.lanes > 1 else []
    notes += [f"none from {show(loop.limit)} on"] if loop.limit is not None else []
    text = f"for {loop.variable} from {show(loop.lower)} below {show(loop.upper)}{step}"
    return f"{text}  ({', '.join(notes)})" if notes else text


def _cell(cell: Cell) -> str:
    return f"{cell.array}({', '.join(map(show, cell.subscripts))})" if cell.subscripts else cell.array


def _local(local: Local) -> str:
    places = "".join(f"[{x.variable}]" for x in local.dims)
    vector = f" of {local.lanes} lanes" if local.lanes > 1 else ""
    return f"{local.name}{places}{vector} for {'partial ' if local.partial else ''}{_cell(local.cell)}"
