"""`compare`: what two schedules share, and where their steps, loops, code and counts differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from workbench import poly
from workbench.codegen.generation import generate
from workbench.errors import LoweringError, ScheduleError, shown
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.schedules.schedule_text import tree_lines
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.schedules import Schedule

CONTEXT = 2


@record
class Count:
    """One number of both schedules; None where the schedule has no such thing."""

    name: str
    a: int | None
    b: int | None


@record
class Comparison:
    """What differs between two schedules `a` and `b`.

    `notes` say what makes them hard to compare (other operators, other sizes, one of them illegal); `common` are the
    steps they begin with, `steps_a` and `steps_b` what follows. `loops` and `code` are unified diffs, empty where
    nothing differs; `counts` has the numbers that differ. `equal` says that they are one computation, loops and all.
    """

    title: str
    notes: tuple[str, ...]
    common: tuple[str, ...]
    steps_a: tuple[str, ...]
    steps_b: tuple[str, ...]
    loops: tuple[str, ...]
    code: tuple[str, ...]
    counts: tuple[Count, ...]
    equal: bool

    @property
    def data(self) -> dict[str, Any]:
        """The comparison as plain data: dicts, lists, texts and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [self.title, *(f"note: {note}" for note in self.notes)]
        if self.equal:
            lines.append("one computation: they differ in nothing but, perhaps, names and steps")
        lines += ["steps", *(f"    {step}" for step in ("naive", *self.common))]
        lines += [f"  - {step}" for step in self.steps_a] + [f"  + {step}" for step in self.steps_b]
        for name, part in (("loops", self.loops), ("code", self.code)):
            lines += [name, *(f"  {line}".rstrip() for line in part or ("the same",))]
        return "\n".join([*lines, *_table(self.counts)])


def compare(a: Schedule, b: Schedule, /, target: str | Target = "c") -> Comparison:
    """The steps, loops, code and counts in which two schedules differ.

    They need not be of one operator, nor legal: the notes say so.  Counts (instances, operations, least traffic, cells
    touched, dependences) are of the scheduled programs; those that need sizes are left out while sizes are open.
    """
    for value in (a, b):
        if not hasattr(value, "trace"):
            raise ScheduleError(f"compare takes two Schedules, as wb.schedule(op) makes them, not {shown(value)}")
    common = _common(a, b)
    first, second = ([str(step) for step in s.trace[len(common) :]] for s in (a, b))
    loops = _diff(*(tree_lines(s.program, s.tree, 0) for s in (a, b)))
    code = _diff(*(_body(generate(s, target, unsafe=True).source) for s in (a, b)))
    counts = tuple(c for c in _counts(a.program, b.program) if c.a != c.b)
    title = f"{_name(a.original)} and {_name(b.original)}" if a.original != b.original else _name(a.original)
    return Comparison(
        title, tuple(_notes(a, b)), common, tuple(first), tuple(second), loops, code, counts, a.key == b.key
    )


def _name(program: Program) -> str:
    sizes = ", ".join(f"{k}={v}" for k, v in program.sizes.items())
    return f"{program.name}({sizes})" if sizes else program.name


def _common(a: Schedule, b: Schedule) -> tuple[str, ...]:
    found = []
    for one, other in zip(a.trace, b.trace, strict=False):
        if one != other:
            break
        found.append(str(one))
    return tuple(found)


def _notes(a: Schedule, b: Schedule) -> Iterator[str]:
    one, other = a.original, b.original
    if one.operator != other.operator:
        yield f"they are of different operators: {one.name} and {other.name}"
    elif one != other:
        yield "they are for different sizes"
    for name, schedule in (("a", a), ("b", b)):
        if not schedule.verdict:
            yield f"{name} is {schedule.verdict.outcome}: {schedule.verdict.explain()}"


def _body(source: str) -> list[str]:
    """Lines of the code without the two that repeat sizes and steps."""
    return source.splitlines()[2:]


def _diff(a: list[str], b: list[str]) -> tuple[str, ...]:
    return tuple(unified_diff(a, b, n=CONTEXT, lineterm=""))[2:]


def _counts(a: Program, b: Program) -> list[Count]:
    one, other = dict(_numbers(a)), dict(_numbers(b))
    return [Count(name, one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other])]


def _numbers(program: Program) -> Iterator[tuple[str, int]]:
    yield "statements", len(program.statements)
    try:
        for s in program.statements:
            yield f"instances of {s.name}", poly.points(program, s.id)
        yield "operations", poly.flops(program)
        yield "least bytes moved", poly.bytes(program)
        for array in program.arrays:
            yield f"cells of {array}", poly.footprint(program, array)
    except LoweringError:
        pass
    kinds = [d.kind for d in poly.dependences(program)]
    for kind in dict.fromkeys(kinds):
        yield f"{kind} dependences", kinds.count(kind)


def _table(counts: tuple[Count, ...]) -> list[str]:
    if not counts:
        return ["counts", "  the same"]
    rows = [(c.name, *("-" if v is None else f"{v:,}" for v in (c.a, c.b))) for c in counts]
    widths = [max(len(row[i]) for row in [("", "a", "b"), *rows]) for i in range(3)]
    head = f"{'counts'.ljust(widths[0] + 2)}  {'a'.rjust(widths[1])}  {'b'.rjust(widths[2])}"
    return [head, *(f"  {n.ljust(widths[0])}  {x.rjust(widths[1])}  {y.rjust(widths[2])}" for n, x, y in rows)]
