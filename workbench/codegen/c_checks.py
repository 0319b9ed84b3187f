"""Index checks as C: a function before the kernel, and `wb_at` where an index is computed."""

from __future__ import annotations

from collections.abc import Callable

from workbench.codegen.c_lines import indented
from workbench.codegen.c_printer import Printer
from workbench.codegen.c_values import Values
from workbench.codegen.index_checks import Early, early_checks, emptiness_check, late_uses
from workbench.codegen.kernel import IndexCheck
from workbench.codegen.nest import Write
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr
from workbench.lang.normal_form import constant, simplify
from workbench.poly.program import Program

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

    `helper` is the text of the dialect's `wb_at`, `status` what it is handed to report a miss.
    """

    helper = AT
    status = "wb_status"

    def __init__(self, program: Program, values: Values, *, enabled: bool) -> None:
        self.program = program
        self.values = values
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
            own = printer()
            own.write = checker(own, self._bounds(early), early.check)  # type: ignore[method-assign]
            lines += [
                "{",
                *indented(["int wb_bad = 0;", *own.lines(early.nest)]),
                f"    if (wb_bad) return {self.found.index(early.check) + 1};",
                "}",
            ]
        body = indented([*lines, "return 0;"])
        return "\n".join([f"static int {name}({arguments})", "{", *body, "}"]) + "\n"

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


def checker(printer: Printer, program: Program, check: IndexCheck) -> Callable[[Write, object], list[str]]:
    """Prints the write that stands for a check."""
    array = program.arrays[check.array]
    misses = printer.values.helpers.text("wb_misses", MISSES)
    lower, extent = array.lower[check.dimension], array.extent[check.dimension]

    def lines(write: Write, lane: object) -> list[str]:
        subscript, guard = write.values
        place: Expr = simplify(Binary("-", subscript, lower, INT64)) if constant(lower) != 0 else subscript
        miss = f"{misses}({printer.values.text(place)}, {printer.values.text(extent)})"
        if isinstance(guard, Const):
            return [f"wb_bad |= {miss};"] if guard.value else []
        return [f"wb_bad |= ({printer.values.text(guard)}) && {miss};"]

    return lines
