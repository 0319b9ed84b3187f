"""The canonical text of an operator: its def with the defs and monoids it uses, so that it parses alone."""

from __future__ import annotations

from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.syntax import Assign, CallStep, Define, Unit, statements_of
from workbench.lang.syntax.terms import Apply


def canonical_text(unit: Unit, define: Define) -> str:
    """What is needed of the unit, printed in textual order, the def itself last."""
    needed = used_names(unit, define)
    others = [item for item in unit.items if item.name.name in needed and item is not define]
    return print_unit(Unit((*others, define)))


def used_names(unit: Unit, define: Define) -> set[str]:
    """Names of the defs and monoids the def uses, directly or through calls."""
    items = {item.name.name: item for item in unit.items}
    found: set[str] = set()
    waiting = [define]
    while waiting:
        for name in _mentioned(waiting.pop()):
            if name in items and name not in found:
                found.add(name)
                item = items[name]
                if isinstance(item, Define):
                    waiting.append(item)
    return found


def _mentioned(define: Define) -> set[str]:
    names: set[str] = set()
    for statement in statements_of(define.body):
        match statement:
            case CallStep(_, callee, _, _):
                names.add(callee.name)
            case Assign(_, op, _, _, True, _):
                names.add(op.name.rstrip("!="))
            case Assign(_, _, (Apply(callee, _, _),), _, _, _):
                names.add(callee.name)
    return names
