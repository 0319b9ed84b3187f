"""`trace_touches`: what a kernel touches, touch by touch, in the order of execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.codegen.generation import as_target
from workbench.codegen.nest.nest import Nest
from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import REWRITES, rewritten
from workbench.codegen.trace.dialect import Printer
from workbench.errors import CodegenError, shown
from workbench.poly.programs.binding import given_sizes
from workbench.poly.programs.program import Array, Program
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.schedules import Schedule

LIMIT = 2_000_000
Kind = Literal["read", "write", "accumulate"]


class Touch(NamedTuple):
    """One touch of one element.

    `statement` (an id) and `instance` say who; the statement is empty where registers are filled or go back.  `element`
    counts from the array's first.  "accumulate" combines a value with the old one.  `thread` is the iteration of
    the outermost parallel loop around, `lane` the lane of the vector loop; None outside.
    """

    statement: str
    instance: tuple[int, ...]
    array: str
    element: int
    kind: Kind
    thread: int | None
    lane: int | None


def trace_touches(
    schedule: Schedule, /, target: str | Target = "c", *, after: int | str | None = None,
    sizes: Mapping[str, int] | None = None, **symbols: int,
) -> tuple[Touch, ...]:  # fmt: skip
    """Every touch of the kernel of a schedule, in the order in which one thread would execute it.

    `after` chooses the nest: after so many rewrites, or after the one of that name; by default after all.  Sizes that
    the schedule leaves open are given as keywords or as `sizes={...}`.  Data are not computed: where
    subscripts or conditions depend on them, they take some course, the same one in every nest.  CodegenError
    when a size is missing, or there are more than two million touches.
    """
    if not hasattr(schedule, "trace"):
        raise CodegenError(f"trace_touches takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
    nests = rewritten(schedule.program, schedule.tree, as_target(target))
    place = _place(after)
    arrays = stored(schedule.program, schedule.tree).arrays if place else schedule.program.arrays
    return traced(schedule.program, nests[place], arrays, given_sizes(sizes, symbols))


def _place(after: int | str | None) -> int:
    names = [r.name for r in REWRITES]
    if isinstance(after, str):
        if after not in names:
            raise CodegenError(f"no rewrite is named {shown(after)}; known: {', '.join(names)}")
        return names.index(after) + 1
    if after is not None and not 0 <= after <= len(names):
        raise CodegenError(f"after={shown(after)}: there are {len(names)} rewrites; expected 0 to {len(names)}")
    return len(names) if after is None else after


def traced(program: Program, nest: Nest, arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> tuple[Touch, ...]:
    """The touches of one nest; `arrays` are the storage objects it addresses."""
    missing = [s for s in program.symbols if s not in sizes]
    if missing:
        raise CodegenError(f"a trace of {program.name} needs a value for {', '.join(missing)}")
    text = Printer(dict(arrays)).function(nest, program.symbols)
    space: dict[str, Any] = {}
    exec(compile(text, f"<trace of {program.name}>", "exec"), space)
    log = _Log()
    space["run"](log, *(sizes[s] for s in program.symbols))
    return tuple(log.found)


@dataclass
class _Log:
    """What the printed text talks to."""

    found: list[Touch] = field(default_factory=list)
    thread: int | None = None
    lane: int | None = None
    statement: str = ""
    instance: tuple[int, ...] = ()

    def begin(self, statement: str, instance: tuple[int, ...]) -> None:
        self.statement, self.instance = statement, instance

    def touch(self, kind: Kind, array: str, element: int) -> None:
        if len(self.found) >= LIMIT:
            raise CodegenError(f"the trace has more than {LIMIT} touches; give smaller sizes")
        self.found.append(Touch(self.statement, self.instance, array, element, kind, self.thread, self.lane))

    def read(self, array: str, element: int) -> int:
        self.touch("read", array, element)
        return (element * 7 + len(array)) % 3

    def hold(self, value: Callable[[], int]) -> tuple[int, list[Touch]]:
        """A value computed ahead; whoever uses it is said to touch what it was read from."""
        start = len(self.found)
        result = value()
        touches = self.found[start:]
        del self.found[start:]
        return result, touches

    def held(self, kept: tuple[int, list[Touch]]) -> int:
        for touch in kept[1]:
            self.touch(touch.kind, touch.array, touch.element)
        return kept[0]

    def function(self, *arguments: int) -> int:
        return sum(arguments) % 3

    def whole(self, count: int, block: int) -> int:
        return count - count % block if count > 0 else 0

    def divided(self, a: int, b: int) -> int:
        return a // b if b else 0

    def remainder(self, a: int, b: int) -> int:
        return a % b if b else 0

    def shifted(self, op: str, a: int, b: int) -> int:
        return a << (b % 8) if op == "<<" else a >> (b % 8)
