"""Copies by squares that are turned in registers, as lines of C."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.codegen.c.expressions.register_transpose import TransposedCopy, get_rows, pieces
from workbench.codegen.c.expressions.values import PRECEDENCE
from workbench.codegen.c.lines import braced, owned, unbraced
from workbench.codegen.nest.nest import For
from workbench.codegen.passes.register_tiles.accumulators import SCALAR

if TYPE_CHECKING:
    from workbench.codegen.c.printer import Printer


def in_squares(printer: Printer, loop: For, copy: TransposedCopy) -> list[str]:
    """Iterations of a copy by squares, those that are left by four, then one by one."""
    printer.vector_loops += 1
    name = printer.values.names("index", loop.variable)
    upper = printer.values.inside(loop.upper, PRECEDENCE["<"] + 1)
    ways, complete = pieces(loop, copy)
    if complete and len(ways) == 1:
        head = printer.head(replace(loop, step=copy.rows))
        return braced(f"{head} {{", _transposed(printer, loop, copy), loop.loop)
    lines = [f"int64_t {name} = {printer.values.text(loop.lower)};"]
    for way in ways:
        head = f"for (; {name} + {way.rows - 1} < {upper}; {name} += {way.rows}) {{"
        lines += braced(head, _transposed(printer, loop, way), loop.loop)
    if not complete:
        rest = unbraced(printer.scoped(loop.variable, loop.body, SCALAR, loop))
        lines += braced(f"for (; {name} < {upper}; {name}++) {{", rest, loop.loop)
    return braced("{", owned(lines))


def _transposed(printer: Printer, loop: For, copy: TransposedCopy) -> list[str]:
    """Some iterations of a copy at once, for the lanes of each vector."""

    def call() -> list[str]:
        said = [*printer.comment(copy.write), get_rows(printer.values, copy, loop.variable)]
        return owned(said, (copy.write.statement,))

    def together() -> list[str]:
        body = printer.within(copy.inner.variable, copy.inner, call)
        asked = printer.requests(copy.asked) if copy.asked else []
        return owned([*asked, *braced(f"{printer.head(copy.inner)} {{", body, copy.inner.loop)])

    return printer.within(loop.variable, loop, together)
