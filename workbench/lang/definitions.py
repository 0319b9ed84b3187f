"""Text to operators: the two entry points of the language."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

from workbench.errors import OperatorError, shown
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import used_names
from workbench.lang.resolve.definition import resolve_define
from workbench.lang.syntax.diagnostics import MOST_PROBLEMS, Diagnostics, Problem
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Define, Unit, statements_of
from workbench.records import record


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


# --- units that are put together rather than read


@record(slots=True)
class Refused:
    """That a def means nothing, and in which of its statements problems are, counted from 0 (None: ask the text)."""

    statements: frozenset[int] | None


@record(slots=True)
class _Assembly:
    """A unit and what it reads like: equal texts are one."""

    text: str
    name: str
    unit: Unit = field(compare=False)


def assembled(unit: Unit, name: str, text: str) -> Operator:
    """The def of that name in a unit whose parts were parsed apart, or made; `text` is what it reads like as a whole.

    The other defs of the unit are taken to be in order.  Raises OperatorError as `operators(text)` does.
    """
    found = attempted(unit, name, text)
    return operators(text)[name] if isinstance(found, Refused) else found  # the text's message points at the place


def attempted(unit: Unit, name: str, text: str) -> Operator | Refused:
    """The def as `assembled` gives it, or what is wrong without a message."""
    return _attempted(_Assembly(text, name, unit))


@lru_cache(maxsize=512)
def _attempted(of: _Assembly) -> Operator | Refused:
    diagnostics = Diagnostics(of.text)
    _check_names(of.unit, diagnostics)
    define = next(each for each in of.unit.defs() if each.name.name == of.name)
    try:
        found = None if diagnostics.problems else resolve_define(of.unit, define, diagnostics, strict=False)
    except OperatorError:
        return Refused(None)
    return found if found is not None and not diagnostics.problems else Refused(_failing(define, diagnostics))


def _failing(define: Define, diagnostics: Diagnostics) -> frozenset[int] | None:
    """The statements with problems, if all problems are those of statements of this def."""
    known = {(problem.span, problem.message) for problem, _ in diagnostics.failed}
    number = {id(step): at for at, step in enumerate(statements_of(define.body))}
    places = [number.get(id(step)) for _, step in diagnostics.failed]
    alone = all((problem.span, problem.message) in known for problem in diagnostics.problems)
    if not alone or len(places) >= MOST_PROBLEMS:
        return None
    found = frozenset(at for at in places if at is not None)
    return found if len(found) == len(set(places)) else None


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
