"""Index checks as C: a function before the kernel, and `wb_at` where an index is computed.

Compilers put nothing into lanes: where indices stand side by side, the function compares a vector of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.codegen.c.expressions.lanes import Lanes, address_stride
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.index_checks import Early, early_checks, emptiness_check, late_uses
from workbench.codegen.c.lines import indented
from workbench.codegen.c.printer import Printer
from workbench.codegen.kernel import IndexCheck
from workbench.codegen.nest.nest import For, Nest, Write, children, rebuild
from workbench.codegen.passes.register_tiles.accumulators import Lane
from workbench.codegen.passes.vector_loops import vectorize_loops
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read
from workbench.poly.programs.program import Program
from workbench.target import Target

MISSES = """static inline int wb_misses(int64_t i, int64_t n)
{
    return i < 0 || i >= n;
}
"""
AT = """static inline int64_t wb_at(int64_t i, int64_t n, int code, int *status)
{
    if (i >= 0 && i < n) return i;
    __atomic_store_n(status, code, __ATOMIC_RELAXED);
    return 0;
}
"""


class Checks:
    """The checks of one kernel, numbered in order.

    `helper` is the text of the dialect's `wb_at`, `status` what it is handed to report a miss; with a `target` the
    function uses its vectors.
    """

    helper = AT
    status = "wb_status"

    def __init__(self, program: Program, values: Values, *, enabled: bool, target: Target | None = None) -> None:
        self.program = program
        self.values = values
        self.target = target
        # What steps added touches cells that the operator's own subscripts give.
        self.early = early_checks(program.original) if enabled else []
        self.late = list({u.check: u for u in late_uses(program)}.values()) if enabled else []
        if self.late:
            values.check = self.at

    @property
    def found(self) -> tuple[IndexCheck, ...]:
        """What each code (1, 2, ...) stands for."""
        return tuple([e.check for e in self.early] + [u.check for u in self.late])

    def at(self, array: str, dimension: int, text: str) -> str:
        """A subscript, replaced by 0 and reported where it misses the array."""
        code = self.code(array, dimension)
        if code is None:
            return text
        extent = self.values.text(self.program.arrays[array].extent[dimension])
        name = self.values.helpers.text("wb_at", self.helper)
        return f"{name}({text}, {extent}, {code}, {self.status})"

    def code(self, array: str, dimension: int) -> int | None:
        """The number of the first late check on this dimension of the array."""
        for number, use in enumerate(self.late):
            if (use.array, use.dimension) == (array, dimension):
                return len(self.early) + number + 1
        return None

    def function(self, name: str, arguments: str, printer: Callable[[], Printer]) -> str:
        """The text of `static int <name>(<arguments>)`, empty when nothing can be checked early."""
        before = self.before
        if not before:
            return ""
        lines = []
        for early in before:
            own, place = printer(), Place(self._bounds(early), early.check)
            own.write = checker(own, place)  # type: ignore[method-assign]
            walked = own.lines(self.in_lanes(early.nest, place))
            lines += [
                "{",
                *indented(["int wb_bad = 0;", *place.started, *walked, *place.ended]),
                f"    if (wb_bad) return {self.found.index(early.check) + 1};",
                "}",
            ]
        body = indented([*lines, "return 0;"])
        return "\n".join([f"static int {name}({arguments})", "{", *body, "}"]) + "\n"

    def in_lanes(self, nest: Nest, place: Place) -> Nest:
        """The walk, its innermost loop in lanes where that is of use."""
        marked = nest if self.target is None else _marked(nest, self.values, place)
        return nest if marked == nest or self.target is None else vectorize_loops(marked, self.target)

    def _bounds(self, early: Early) -> Program:
        """The program whose arrays a check is about."""
        return self.program.original if early in self.early else self.program

    @property
    def before(self) -> list[Early]:
        """The checks that come before the kernel, in order."""
        return [*self.early, *self.emptiness]

    @property
    def emptiness(self) -> list[Early]:
        """Checks that arrays without cells are not reached: there is no first cell to read instead."""
        extents = {u: self.program.arrays[u.array].extent[u.dimension] for u in self.late}
        return [emptiness_check(self.program, u) for u, e in extents.items() if (constant(e) or 0) <= 0]


class Place:
    """Where an index of one check has to be; `started` and `ended` stand around a walk in lanes."""

    def __init__(self, program: Program, check: IndexCheck) -> None:
        array = program.arrays[check.array]
        self.lower, self.extent = array.lower[check.dimension], array.extent[check.dimension]
        self.started: list[str] = []
        self.ended: list[str] = []

    def of(self, subscript: Expr) -> Expr:
        """The index, counted from the first place."""
        return subscript if constant(self.lower) == 0 else simplify(Binary("-", subscript, self.lower, INT64))


def checker(printer: Printer, place: Place) -> Callable[[Write, Lane], list[str]]:
    """Prints the write that stands for a check."""
    values = printer.values
    misses = values.helpers.text("wb_misses", MISSES)

    def lines(write: Write, lane: Lane) -> list[str]:
        subscript, guard = write.values
        if isinstance(guard, Const) and not guard.value:
            return []
        if lane.variable:
            return _missing_lanes(Lanes(values, lane), subscript, guard, place)
        miss = f"{misses}({values.text(place.of(subscript))}, {values.text(place.extent)})"
        return [f"wb_bad |= {miss};" if isinstance(guard, Const) else f"wb_bad |= ({values.text(guard)}) && {miss};"]

    return lines


def _missing_lanes(lanes: Lanes, subscript: Expr, guard: Expr, place: Place) -> list[str]:
    """Negative indices are large ones without a sign, so one comparison finds both kinds."""
    bits, count, helpers = subscript.dtype.bits, lanes.lane.count, lanes.values.helpers
    unsigned, mask = (UINT64, helpers.type(INT64, count)) if bits == 64 else (UINT32, helpers.type(INT32, count))
    highest = place.extent if bits == 64 else Call("min", (place.extent, Const(1 << 31, INT64)), INT64)
    limit = lanes.splat(f"({unsigned.c_name}){lanes.values.inside(simplify(highest), 11)}", unsigned)
    miss = f"(({helpers.type(unsigned, count)}){lanes.vector(subscript)} >= {limit})"
    given = "" if isinstance(guard, Const) else f"{lanes.mask(guard, bits)} & "
    found = helpers.vector("any", FLOAT64 if bits == 64 else FLOAT32, count)
    place.started = [f"{mask} wb_bads = {{0}};"]
    place.ended = [f"wb_bad |= {found}(wb_bads);"]
    return [f"wb_bads |= {given}{miss};"]


def _marked(nest: Nest, values: Values, place: Place) -> Nest:
    """The nest, its innermost loop to be put into lanes if its iterations look at neighbouring indices."""
    if not isinstance(nest, For) or not isinstance(nest.body, Write):
        return rebuild(nest, tuple(_marked(child, values, place) for child in children(nest)))
    subscript, guard = nest.body.values
    read = subscript.operand if isinstance(subscript, Cast) else subscript
    if not isinstance(read, Read) or read.dtype.kind != "int" or constant(place.lower) != 0:
        return nest
    if address_stride(values, read.tensor, read.subscripts, nest.variable) != 1:
        return nest
    index = read if read.dtype.bits >= 32 else Cast(read, INT32)
    return replace(nest, kind="vector", body=replace(nest.body, values=(index, guard)))
