"""A set of sizes: which values of a program's symbols something holds for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.lang.expr import Expr
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl
from workbench.poly.sets.ast_expressions import language_expression
from workbench.poly.sets.names import user_text
from workbench.poly.sets.witness import fix_sizes
from workbench.records import record


@record
class SizeSet:
    """Sizes for which something holds: `dict(N=5) in sizes`; prints like `N ≥ 1`; false when there are none.

    `symbols` are the symbolic sizes, `bound` those that are numbers already, `text` the set of the symbols in isl's
    notation.
    """

    symbols: tuple[str, ...]
    bound: tuple[tuple[str, int], ...]
    text: str = field(repr=False)

    @isl.guarded
    def __contains__(self, sizes: Mapping[str, int]) -> bool:
        """Whether it holds for these sizes; all symbols must be given, bound sizes may be."""
        bound = dict(self.bound)
        for name in sizes:
            if name not in self.symbols and name not in bound:
                raise WorkbenchError(unknown_name("size", name, (*self.symbols, *bound)))
        missing = [name for name in self.symbols if name not in sizes]
        if missing:
            raise WorkbenchError(f"a size is missing: {', '.join(missing)}; given: {shown(dict(sizes))}")
        if any(sizes.get(name, value) != value for name, value in bound.items()):
            return False
        return not fix_sizes(isl.parse_set(self.text), {name: sizes[name] for name in self.symbols}).is_empty()

    @isl.guarded
    def condition(self) -> Expr:
        """The set as a condition on the symbols; bound sizes do not stand in it."""
        sizes = isl.parse_set(self.text)
        build = isl.AstBuild.from_context(isl.parse_set("{ : }"))
        return language_expression(build.expr_from_set(sizes.remove_redundancies()), {})

    @isl.guarded
    def __bool__(self) -> bool:
        return not isl.parse_set(self.text).is_empty()

    def __str__(self) -> str:
        if not self:
            return "no sizes"
        conditions = self.text[self.text.index("{") + 1 : self.text.rindex("}")].strip().removeprefix(":").strip()
        if conditions:
            return _readable(conditions)
        given = ", ".join(f"{name}={value}" for name, value in self.bound)
        return "all sizes" if self.symbols or not given else f"the given sizes, {given}"


@isl.guarded
def size_set(program: Program, excluded: tuple[str, ...] = ()) -> SizeSet:
    """The sizes of a program's context without those for which one of the relations (isl text) holds a pair."""
    allowed = isl.parse_set(program.context)
    for text in excluded:
        allowed = allowed.subtract(isl.parse_map(text).params())
    return _made(program, allowed.coalesce())


@isl.guarded
def no_sizes(program: Program) -> SizeSet:
    """The empty set."""
    context = isl.parse_set(program.context)
    return _made(program, context.subtract(context))


def _made(program: Program, sizes: isl.Set) -> SizeSet:
    return SizeSet(program.symbols, tuple(program.sizes.items()), isl.text_of(sizes))


def _readable(conditions: str) -> str:
    """isl's conditions as one writes them: `N > 0` becomes `N ≥ 1`."""
    text = re.sub(r"> (-?\d+)\b", lambda m: f"≥ {int(m[1]) + 1}", conditions)
    text = re.sub(r"(?<![\w.])(-?\d+) <(?!=)", lambda m: f"{int(m[1]) + 1} ≤", text)
    text = re.sub(r"< (-?\d+)\b", lambda m: f"≤ {int(m[1]) - 1}", text)
    text = text.replace("<=", "≤").replace(">=", "≥")
    return user_text(text)
