"""Which variables a nest or a function is given, which are its own, and what is inferred about them."""

from __future__ import annotations

from copy import copy
from typing import Any

from pycparser import c_ast

from workbench.fromc.numbers.constants import constants_of, is_scalar
from workbench.fromc.parameters.inference import declaration_node, inferred
from workbench.fromc.text.locals import assigned_names, homes, identifiers_in, loop_variables
from workbench.fromc.text.syntax import Unit
from workbench.records import record


@record
class Givens:
    """Declarations of what is given, and the statements, after the variables that are theirs alone (`own`).

    `updated` are given scalars that the statements change; `said` is what was inferred, in words.
    """

    declarations: tuple[Any, ...]
    items: tuple[Any, ...]
    updated: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()
    own: tuple[Any, ...] = ()


def givens(unit: Unit) -> Givens:
    """What a unit is given: parameters and variables of the file, or what a nest declares before its loops."""
    body = list(unit.body)
    if body and isinstance(body[-1], c_ast.Return):
        last = body[-1].expr
        body = body[:-1] if last is None or isinstance(last, c_ast.Constant) else body
    if unit.is_nest:
        return _of_nest(unit, body)
    constants = constants_of(unit)
    own = [d for d in unit.declarations if d.name not in constants]
    tables = constants.values()
    values = [d.name for d in own if d.init]
    said = (f"given by the caller, not as the text sets them: {', '.join(values)}",) if values else ()
    changed = set(assigned_names(c_ast.Compound(body))) & {d.name for d in own if is_scalar(d)}
    return Givens((*unit.parameters, *map(_without_value, own)), (*tables, *body), frozenset(changed), said)


def _without_value(declaration: Any) -> Any:
    found = copy(declaration)
    found.init = None
    return found


def _of_nest(unit: Unit, body: list[Any]) -> Givens:
    heads = {name for item in body for name in loop_variables(item)}
    first = next((n for n, item in enumerate(body) if not isinstance(item, c_ast.Decl)), len(body))
    before = {d.name: d for d in body[:first] if d.name}
    frame = unit.source.frame
    items = [item for item in body[first:] if not isinstance(item, c_ast.Typedef)]
    if frame is not None:
        before = {name: d for name, d in before.items() if name in _used(items, before)}
    made = {d.name: d for d in (declaration_node(text, at) for text, at in inferred(unit, items, set(before)))}
    made = {name: d for name, d in made.items() if name not in heads}
    bound = {*heads, *constants_of(unit)}
    own = [d for d in before.values() if d.name in bound or (d.init is not None and frame is None)]
    outside = {n: _without_value(d) for n, d in before.items() if d not in own}
    outlive = frame.outlive if frame else frozenset()
    free = {*made, *(outside if frame is None else set(outside) - outlive)}
    local, updated = _scalars({**outside, **made}, items, free, set(outside) - outlive, bare=frame is None)
    given = [d for name, d in {**made, **outside}.items() if name not in local]
    kept = [d for name, d in {**outside, **made}.items() if name in local]
    said = _said(made, local, outside, before)
    return Givens(tuple(given), (*own, *kept, *items), frozenset(updated), said, (*own, *kept))


def _used(items: list[Any], before: dict[str, Any]) -> set[str]:
    """Names that the statements use, and those in the extents of what they use."""
    used: set[str] = {name for item in items for name in identifiers_in(item)}
    waiting = [name for name in before if name in used]
    while waiting:
        more = set(identifiers_in(before[waiting.pop()])) - used
        used |= more
        waiting += [name for name in more if name in before]
    return used


def _scalars(declared: dict[str, Any], items: list[Any], free: set[str], ending: set[str], *, bare: bool
             ) -> tuple[set[str], set[str]]:  # fmt: skip
    """Scalars that the statements change: those that are their own, and those that come from outside or stay.

    `free` may be private to an iteration; `ending` end with the statements, and so are their own if these begin with
    a value for them.
    """
    assigned = set(assigned_names(c_ast.Compound(items)))
    scalars = {n for n, d in declared.items() if n in assigned and isinstance(d.type, c_ast.TypeDecl)}
    local = {n for n in scalars & free if homes([_without_value(declared[n]), *items])}
    if not (bare and assigned <= scalars and scalars != local):  # else what a bare nest computes is in a scalar
        local |= {n for n in scalars & ending if _begins_written(n, items)}
    return local, scalars - local


def _begins_written(name: str, items: list[Any]) -> bool:
    """Whether the first statement that mentions a scalar gives it a value."""
    first = next((item for item in items if name in identifiers_in(item)), None)
    match first:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value):
            return target == name and name not in identifiers_in(value)
    return first is None


def _said(
    made: dict[str, Any], local: set[str], outside: dict[str, Any], before: dict[str, Any]
) -> tuple[str, ...]:
    from pycparser import c_generator

    write = c_generator.CGenerator()
    found = [f"{write.visit(d)}{' (of its own)' * (name in local)}" for name, d in made.items()]
    said = (f"inferred: {'; '.join(found)}",) if found else ()
    values = [n for n in outside if before[n].init is not None and n not in local]
    return said + ((f"given by the caller, not as the text sets them: {', '.join(values)}",) if values else ())
