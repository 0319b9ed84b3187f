"""Ranges that the language infers by itself are left out of a derived program's text."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from workbench.errors import OperatorError
from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.definitions import Refused, assembled, attempted, operators
from workbench.lang.expr import Expr
from workbench.lang.operator import Operator, Statement
from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.syntax import Assign, Define, ForStep, RangeClause, StepNode, Unit

if TYPE_CHECKING:
    from workbench.lang.derived.text.writing import Derived

_LOOP = re.compile(r" *(for |\}$)")
_LINE = re.compile(r"^line (\d+), column", re.MULTILINE)
Trimmed = frozenset[tuple[int, str]]
"""Ranges that are left out: (number of the statement, index)."""


def without(derived: Derived, trimmed: Trimmed) -> Operator:
    """The text without these ranges, read again; OperatorError if it means nothing."""
    unit = _shorter(derived.unit, trimmed)
    return assembled(unit, derived.name, print_unit(unit))


def attempted_without(derived: Derived, trimmed: Trimmed) -> Operator | Refused:
    """The text without these ranges, read again, or the statements in which there are problems."""
    unit = _shorter(derived.unit, trimmed)
    text = print_unit(unit)
    found = attempted(unit, derived.name, text)
    if not isinstance(found, Refused) or found.statements is not None:
        return found
    try:
        return operators(text)[derived.name]
    except OperatorError as error:
        return Refused(frozenset(_complained_of(str(error), text, derived.name)))


def _shorter(unit: Unit, trimmed: Trimmed) -> Unit:
    """The unit without these ranges."""
    numbers = count()

    def shortened(step: StepNode) -> StepNode:
        if isinstance(step, ForStep):
            return replace(step, body=tuple(map(shortened, step.body)))
        assert isinstance(step, Assign)
        at = next(numbers)
        kept = tuple(c for c in step.clauses if isinstance(c, RangeClause) and (at, c.index.name) not in trimmed)
        return replace(step, clauses=kept)

    *others, define = unit.items
    assert isinstance(define, Define)
    return Unit((*others, replace(define, body=tuple(map(shortened, define.body)))))


def ranges_of(derived: Derived) -> Trimmed:
    """(statement, index) of every range that may be left out."""
    pairs = enumerate(derived.statements())
    return frozenset((at, r.index) for at, s in pairs for r in s.ranges if r.kind != "sequential")


def spare_ranges(derived: Derived) -> Trimmed:
    """(statement, index) of the ranges that are found without being written."""
    every = ranges_of(derived)
    while every:
        found = _differing(derived, every)
        if not found:
            break
        every = frozenset((at, index) for at, index in every if at not in found)
    return every


def _differing(derived: Derived, trimmed: Trimmed) -> set[int]:
    """Statements that mean something else, or nothing, without these ranges."""
    shorter = attempted_without(derived, trimmed)
    if isinstance(shorter, Refused):
        every = {at for at, _ in trimmed}
        return every.intersection(shorter.statements or ()) or every
    if _is_as_written(derived, shorter):
        return set()
    pairs = enumerate(zip(derived.whole.statements(), shorter.statements(), strict=True))
    found = {at for at, (a, b) in pairs if a != b}
    changed = shorter.tensors != derived.whole.tensors or shorter.conditions != derived.whole.conditions
    return found or (set(range(len(derived.statements()))) if changed else set())


def _is_as_written(derived: Derived, shorter: Operator) -> bool:
    """Whether the ranges found are those of the program to the letter, and nothing had to be assumed for that.

    Then the text with every range would mean the same, and need not be read.
    """
    pairs = zip(derived.statements(), shorter.statements(), strict=True)
    return not shorter.conditions and all(_written(a) == _found(b) for a, b in pairs)


def _written(statement: Statement) -> dict[str, tuple[Expr, Expr]]:
    return {each.index: (bound(polynomial(each.lower)), bound(polynomial(each.upper))) for each in statement.ranges}


def _found(statement: Statement) -> dict[str, tuple[Expr, Expr]]:
    return {each.index: (each.lower, each.upper) for each in statement.ranges}


def _complained_of(message: str, text: str, name: str) -> set[int]:
    """The statements in whose lines an error message sees problems: each stands on a line of its own."""
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith((f"def {name}(", f"def {name}<")))
    numbers = (at for at, line in enumerate(lines) if at > first and not _LOOP.match(line))
    places = {line: statement for statement, line in enumerate(numbers)}
    named = {int(found) - 1 for found in _LINE.findall(message)}
    return {places[line] for line in named if line in places}
