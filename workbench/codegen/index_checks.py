"""Subscripts that are data: checked where they are used, reported by number."""

from __future__ import annotations

from workbench.codegen.c_helpers import Helpers
from workbench.codegen.c_values import Values
from workbench.codegen.kernel import IndexCheck
from workbench.poly.polynomial import is_constant
from workbench.lang.expr import Expr
from workbench.lang.printer import show
from workbench.poly.program import Program

AT = """static inline int64_t wb_at(int64_t i, int64_t n, int code, int *status)
{
    if ((uint64_t)i < (uint64_t)n) return i;
    __atomic_store_n(status, code, __ATOMIC_RELAXED);
    return 0;
}
"""


class IndexChecks:
    """Notes every data-dependent subscript while a kernel is printed."""

    def __init__(self, program: Program, helpers: Helpers, enabled: bool) -> None:
        self.program = program
        self.helpers = helpers
        self.enabled = enabled
        self.found: list[IndexCheck] = []
        self.values: Values | None = None

    def attach(self, values: Values) -> None:
        """Make `values` ask here for every subscript that reads data."""
        self.values = values
        if self.enabled:
            values.check = self.checked

    def checked(self, array: str, dimension: int, subscript: Expr, text: str) -> str:
        """The subscript, replaced by 0 (and reported) where it is out of range."""
        assert self.values is not None
        entry = IndexCheck("", array, dimension, show(subscript))
        if entry not in self.found:
            self.found.append(entry)
        code = self.found.index(entry) + 1
        extent = self.values.text(self.program.arrays[array].extent[dimension])
        name = self.helpers.text("wb_at", AT)
        return f"{name}({text}, {extent}, {code}, wb_status)"

    def opening(self) -> list[str]:
        """Lines before the body: nothing can be read from an array without cells."""
        lines = ["int wb_failed = 0, *wb_status = &wb_failed;", "(void)wb_status;"]
        assert self.values is not None
        for number, entry in enumerate(self.found):
            extent = self.program.arrays[entry.array].extent[entry.dimension]
            if is_constant(extent) is None or is_constant(extent) == 0:
                lines.append(f"if ({self.values.text(extent)} <= 0) return {number + 1};")
        return lines

    def ending(self) -> list[str]:
        return ["return wb_failed;"]
