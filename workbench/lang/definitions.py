"""Text to operators: the two entry points of the language."""

from __future__ import annotations

from functools import lru_cache

from workbench.errors import OperatorError, shown
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import used_names
from workbench.lang.resolve.definition import resolve_define
from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Unit


def operators(text: str) -> dict[str, Operator]:
    """Every def of a text, in textual order.

    Raises OperatorError, which lists up to ten problems, each with its place and where possible a fix.

    >>> list(operators("def copy(float(N) A) -> (B) { B(i) = A(i) }"))
    ['copy']
    """
    if not isinstance(text, str):
        raise OperatorError(f"an operator is written as a text (str), not as {shown(text)}")
    return dict(_operators(text))


def operator(text: str) -> Operator:
    """The one def of a text that no other def of it calls.

    >>> operator("def copy(float(N) A) -> (B) { B(i) = A(i) }")
    <Operator copy(A) -> (B)>
    """
    found = operators(text)
    if not found:
        raise OperatorError("the text defines no operator; write def name(float(N) A) -> (B) { B(i) = ... }")
    unit = parse(text)
    called = {name for define in unit.defs() for name in used_names(unit, define) - {define.name.name}}
    roots = [name for name in found if name not in called]
    if len(roots) != 1:
        raise OperatorError(f"the text defines several operators ({', '.join(roots)}); use operators(text)[name]")
    return found[roots[0]]


def instance(text: str, name: str, *, strict: bool) -> Operator:
    """The def of that name in a text; `strict` where a type variable became bool, which then is no number."""
    return _operators(text, strict)[name]


@lru_cache(maxsize=256)
def _operators(text: str, strict: bool = False) -> dict[str, Operator]:
    diagnostics = Diagnostics(text)
    unit = parse(text)
    _check_names(unit, diagnostics)
    diagnostics.check()
    found = {define.name.name: resolve_define(unit, define, diagnostics, strict=strict) for define in unit.defs()}
    diagnostics.check()
    return {name: found_operator for name, found_operator in found.items() if found_operator is not None}


def _check_names(unit: Unit, diagnostics: Diagnostics) -> None:
    seen: set[str] = set()
    for item in unit.items:
        if item.name.name in seen:
            diagnostics.add(Problem(f"{item.name.name!r} already defined", item.name.span, "choose another name"))
        seen.add(item.name.name)
